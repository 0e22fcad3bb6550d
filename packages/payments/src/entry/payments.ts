/** `npm run payments`: the payment relayer; `status` and `release <intent>` look after its journal. */

import { openAccount } from '@prism-gateway/crypto/accounts';
import { waitForSignal } from '@prism-gateway/runtime';
import { createLogger, openLogOutput } from '@prism-gateway/runtime/logs';
import { createAlerter } from '../alerts/createAlerter.ts';
import { openChannels } from '../alerts/openChannels.ts';
import { createRedactor } from '../createRedactor.ts';
import { startRelayer } from '../flow/startRelayer.ts';
import { createMetrics, type Metrics } from '../metrics/createMetrics.ts';
import { publishMetrics } from '../metrics/publishMetrics.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';
import { paymentsUsage } from '../settings/usage.ts';
import { runRelease, runStatus } from './runStatus.ts';
import { secretsOf } from './secretsOf.ts';

/** Time for what is under way after a signal, in milliseconds. */
const DRAIN_MS = 25_000;
/** Time for the last alerts, in milliseconds. */
const ALERT_DRAIN_MS = 5000;
const METRICS_INTERVAL_MS = 5000;

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
  const alerter = createAlerter({ channels: openChannels(settings), log, redact });
  let metrics: Metrics | undefined;
  const counting = {
    ...alerter,
    raise(...raised: Parameters<typeof alerter.raise>) {
      metrics?.countAlert(raised[0].code);
      alerter.raise(...raised);
    },
  };
  const relayer = await startRelayer({ settings, account, alerter: counting, log });
  metrics = createMetrics({ journal: relayer.journal, now: Date.now });
  const stopping = new AbortController();
  const { METRICS_FILE: file, METRICS_PUSH_URL: pushUrl } = settings;
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
  await alerter.drain(ALERT_DRAIN_MS);
  alerter.close();
  await output.close();
}

async function main(): Promise<number> {
  const [command, ...rest] = process.argv.slice(2).filter((word) => word !== '--');
  if (command === '--help' || command === 'help') {
    console.log(paymentsUsage);
    return 0;
  }
  let redact = (text: string) => text;
  try {
    if (command === 'status') return runStatus(parseSettings('status', process.env));
    if (command === 'release' && rest[0] !== undefined)
      return runRelease(parseSettings('status', process.env), rest[0]);
    if (command !== undefined) throw new Error('Unknown command; see --help');
    const settings = parseSettings('payments', process.env);
    redact = createRedactor(secretsOf(settings));
    await relay(settings);
    return 0;
  } catch (error) {
    console.error(`The payment relayer stops. ${redact(error instanceof Error ? error.message : 'unknown')}`);
    return 1;
  }
}

process.exit(await main());
