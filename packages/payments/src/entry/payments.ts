/** `prism payments`: the payment relayer; with a command, what looks after its journal. */

import { DirectoryError, waitForSignal } from '@prism-gateway/node';
import { createRedactor } from '@prism-gateway/node/alerts';
import { writeFailure } from '@prism-gateway/node/command-line';
import { createLogger, openLogOutput } from '@prism-gateway/node/logs';
import { findMisspelt, SettingsError } from '@prism-gateway/node/settings';
import { SenderError } from '@prism-gateway/sender';
import { SearchStartError } from '../chain/checkSearchStart.ts';
import { UnreachedError } from '../cli/openNode.ts';
import { UsageError } from '../cli/parseWords.ts';
import { runCommand } from '../cli/runCommand.ts';
import { explainError } from '../explainError.ts';
import { JournalFileError } from '../journal/openPaymentJournal.ts';
import { parseSettings, paymentsSettings, type Settings, secretsOf } from '../settings/settings.ts';
import { paymentsUsage } from '../settings/usage.ts';
import { JournalOwnerError } from '../startPayer.ts';
import { startPayments } from '../startPayments.ts';

/** The exit code of a payer that stops for a fault. */
const STOPPED = 1;
/** The exit code of a command that cannot be carried out; 1 says that books do not agree. */
const NOT_DONE = 2;

async function relay(settings: Settings<'payments'>): Promise<void> {
  const signal = waitForSignal();
  const output = openLogOutput();
  const redact = createRedactor(secretsOf(settings));
  const log = createLogger({ level: settings.LOG_LEVEL, write: output.write, now: Date.now, redact });
  for (const sentence of findMisspelt(paymentsSettings, process.env)) log.warn({ code: 'SETTING' }, sentence);
  const payments = await startPayments({ settings, log });
  log.info({ signal: await signal }, 'stopping');
  await payments.stop();
  log.info({}, 'stopped');
  await output.close();
}

/** Errors of these say themselves what to do. */
const PLAIN = [
  ...[DirectoryError, JournalFileError, JournalOwnerError],
  ...[SearchStartError, SenderError, SettingsError, UnreachedError, UsageError],
];

function describeFault(error: unknown): string {
  return error instanceof Error && PLAIN.some((kind) => error instanceof kind) ? error.message : explainError(error);
}

async function carryOut(words: readonly string[]): Promise<number> {
  try {
    const code = await runCommand(words, { environment: process.env, print: console.log });
    if (code === undefined) throw new UsageError(`There is no command ${words[0]}; see --help.`);
    return code;
  } catch (error) {
    console.error(writeFailure(words, describeFault(error)));
    return NOT_DONE;
  }
}

async function main(): Promise<number> {
  const [command, ...rest] = process.argv.slice(2).filter((word) => word !== '--');
  if (command === 'help' || process.argv.includes('--help') || command === '-h') {
    console.log(paymentsUsage);
    return 0;
  }
  if (command !== undefined) return await carryOut([command, ...rest]);
  let redact = (text: string) => text;
  try {
    const settings = parseSettings('payments', process.env);
    redact = createRedactor(secretsOf(settings));
    await relay(settings);
    return 0;
  } catch (error) {
    console.error(redact(`The payment relayer stops. ${describeFault(error)}`));
    return STOPPED;
  }
}

// Nobody else may read this program's files.
process.umask(0o077);
process.exit(await main());
