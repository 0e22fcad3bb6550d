/** `npx prism gas-monitor`: warns before a relayer runs dry. */

import { waitForSignal } from '@prism-gateway/node';
import { createRedactor } from '@prism-gateway/node/alerts';
import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import { createLogger, openLogOutput } from '@prism-gateway/node/logs';
import { findMisspelt } from '@prism-gateway/node/settings';
import { listTargets } from '../monitor/listTargets.ts';
import { lookOnce, writeBalance, writeLimits } from '../monitor/lookOnce.ts';
import { startGasMonitor } from '../monitor/startGasMonitor.ts';
import { gasMonitorSettings, parseSettings, type Settings, secretsOf } from '../settings/settings.ts';
import { gasMonitorUsage } from '../settings/usage.ts';

async function watch(settings: Settings<'gas-monitor'>): Promise<void> {
  const signal = waitForSignal();
  const output = openLogOutput();
  const redact = createRedactor(secretsOf(settings));
  const log = createLogger({ level: settings.LOG_LEVEL, write: output.write, now: Date.now, redact });
  for (const sentence of findMisspelt(gasMonitorSettings, process.env)) log.warn({ code: 'SETTING' }, sentence);
  const monitor = await startGasMonitor({ settings, log });
  log.info({ signal: await signal }, 'stopping');
  await monitor.stop();
  log.info({}, 'stopped');
  await output.close();
}

/** Prints what each account has. @returns 1 if something is low */
async function printReadings(settings: Settings<'gas-monitor'>, isJson: boolean): Promise<number> {
  const { GAS_WARN_BALANCE_ETH: warnBelow, STABLECOIN_WARN_BALANCE: warnStablecoinsBelow } = settings;
  const targets = await listTargets(settings, new AbortController().signal);
  const balances = await lookOnce({ warnBelow, warnStablecoinsBelow }, targets);
  const ok = balances.every(({ isLow }) => !isLow);
  console.log(
    isJson ? JSON.stringify({ ok, balances }) : [...balances.map(writeBalance), writeLimits(settings)].join('\n'),
  );
  return ok ? 0 : 1;
}

async function main(): Promise<number> {
  let redact = (text: string) => text;
  try {
    const options = { once: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } } as const;
    const {
      once = false,
      json = false,
      help = false,
    } = parseCommandLine({ options, args: process.argv.slice(2) }).values;
    if (help) {
      console.log(gasMonitorUsage);
      return 0;
    }
    const settings = parseSettings('gas-monitor', process.env);
    redact = createRedactor(secretsOf(settings));
    if (once) return await printReadings(settings, json);
    await watch(settings);
    return 0;
  } catch (error) {
    if (error instanceof CommandLineError) {
      console.error(writeFailure(process.argv, error.message));
      return USAGE_STATUS;
    }
    const why = redact(error instanceof Error ? error.message : 'unknown');
    console.error(writeFailure(process.argv, `The gas monitor stops. ${why}`));
    return 1;
  }
}

// Nobody else may read this program's files.
process.umask(0o077);
process.exit(await main());
