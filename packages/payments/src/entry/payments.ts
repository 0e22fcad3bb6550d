/** `prism payments`: the payment relayer; with a command, what looks after its journal. */

import { createOutbox, createRedactor, openChannels } from '@prism-gateway/alerts';
import { openAccount } from '@prism-gateway/crypto/accounts';
import { DirectoryError, serveMetrics, waitForSignal } from '@prism-gateway/runtime';
import { writeFailure } from '@prism-gateway/runtime/command-line';
import { createLogger, openLogOutput } from '@prism-gateway/runtime/logs';
import { SettingsError } from '@prism-gateway/runtime/settings';
import { SenderError } from '@prism-gateway/sender';
import { guideAlert } from '../alerts/guideAlert.ts';
import { UnreachedError } from '../cli/openNode.ts';
import { UsageError } from '../cli/parseWords.ts';
import { runCommand } from '../cli/runCommand.ts';
import { explainError } from '../explainError.ts';
import { JournalFileError, JournalOwnerError } from '../journal/journalErrors.ts';
import { createMetrics, type Metrics } from '../metrics/createMetrics.ts';
import { createStatusPage } from '../metrics/createStatusPage.ts';
import { publishMetrics } from '../metrics/publishMetrics.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';
import { paymentsUsage } from '../settings/usage.ts';
import { type RelayerParts, startRelayer } from '../startRelayer.ts';
import { secretsOf } from './secretsOf.ts';

/** Time for what is under way after a signal, in milliseconds. */
const DRAIN_MS = 25_000;
const METRICS_INTERVAL_MS = 5000;
/** The exit code of a relayer that stops for a fault. */
const STOPPED = 1;
/** The exit code of a command that cannot be carried out; 1 says that books do not agree. */
const NOT_DONE = 2;

async function relay(settings: Settings<'payments'>): Promise<void> {
  const signal = waitForSignal();
  const redact = createRedactor(secretsOf(settings));
  const output = openLogOutput();
  const log = createLogger({ level: settings.LOG_LEVEL, write: output.write, now: Date.now, redact });
  const {
    RELAYER_PRIVATE_KEY: key,
    RELAYER_KEYSTORE: keystore,
    RELAYER_KEYSTORE_PASSWORD: keystorePassword,
  } = settings;
  // The schema has checked the key's digits.
  const account = await openAccount({ privateKey: key as `0x${string}` | undefined, keystore, keystorePassword });
  let metrics: Metrics | undefined;
  const openAlerter: RelayerParts['openAlerter'] = ({ journal, signature }) => {
    const { outbox } = journal;
    const channels = openChannels(settings);
    const alerter = createOutbox({ outbox, channels, log, redact, signature, guide: guideAlert, now: Date.now });
    return {
      ...alerter,
      raise(alert) {
        metrics?.countAlert(alert.code);
        alerter.raise(alert);
      },
    };
  };
  const relayer = await startRelayer({ settings, account, openAlerter, log });
  metrics = createMetrics({ ...relayer, now: Date.now });
  const stopping = new AbortController();
  const { METRICS_HOST: host, METRICS_PORT: port, METRICS_FILE: file, METRICS_PUSH_URL: pushUrl } = settings;
  const { registry } = metrics;
  const pages = { '/status': createStatusPage(relayer.journal) };
  const server = port === 'off' ? undefined : await serveMetrics({ registry, host, port, pages });
  if (server !== undefined) log.info({ metrics: server.url }, 'metrics are served');
  const published = publishMetrics({
    metrics,
    file,
    pushUrl,
    intervalMs: METRICS_INTERVAL_MS,
    log,
    signal: stopping.signal,
  });
  log.info({ signal: await signal }, 'stopping');
  stopping.abort();
  await published;
  await relayer.stop(DRAIN_MS);
  await server?.close();
  await output.close();
}

/** Errors of these say themselves what to do. */
const PLAIN = [
  ...[DirectoryError, JournalFileError, JournalOwnerError],
  ...[SenderError, SettingsError, UnreachedError, UsageError],
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

// What this program writes is nobody else's business.
process.umask(0o077);
process.exit(await main());
