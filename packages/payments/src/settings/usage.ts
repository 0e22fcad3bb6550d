import { writeSettingsHelp } from '@prism-gateway/node/settings';
import { gasMonitorSettings, paymentsSettings } from './paymentsSettings.ts';

/** The output of `npx prism payments --help`. */
export const paymentsUsage = `Payment relayer: npx prism payments
  npx prism payments                     works until SIGTERM or SIGINT; its log is JSON, a line an event
  npx prism payments status              what is under way, balances, and which folder was read
  npx prism payments list [--state S]    payments of the journal
  npx prism payments show <intent, wallet or transaction> [--journals FOLDER,FOLDER]    the story of payments, of other instances too
  npx prism payments ledger [--since DAY] [--csv]    a line a payment, and the sums of each day
  npx prism payments reconcile [--processor FILE.csv]    compares journal, chain and frontend; exit code 1 with differences, 2 if they cannot be compared
  npx prism payments release <intent> [--accept-listed]    lets a held or refused payment be tried again, or approves one over a limit
  npx prism payments hold <intent>       keeps a payment from being begun
  npx prism payments close <intent> --refunded | --paid    the card was refunded, or it was paid by other means: never paid
  npx prism payments resume              goes on after KEY_USED_ELSEWHERE, EXCHANGE_BROKEN, or a restore
  npx prism payments backup <folder>     copies the journals while the relayer is at work
  npx prism payments deploy-payouts [--owner ADDRESS]    deploys the contract Payouts, through which RELAYER_ADDRESSES may pay
  All commands take --json; those that decide take --why and --who.

Settings are environment variables.

${writeSettingsHelp(paymentsSettings)}`;

/** The output of `npx prism gas-monitor --help`. */
export const gasMonitorUsage = `Gas monitor: npx prism gas-monitor
  npx prism gas-monitor                     watches until SIGTERM or SIGINT; its log is JSON, a line an event
  npx prism gas-monitor --once [--json]     prints what each account has, and ends with 1 where that is too little

Settings are environment variables.

${writeSettingsHelp(gasMonitorSettings)}`;
