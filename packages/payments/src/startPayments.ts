import { createHeartbeat, serveMetrics } from '@prism-gateway/node';
import { openAccount } from '@prism-gateway/node/accounts';
import { createOutbox, createRedactor, openChannels } from '@prism-gateway/node/alerts';
import type { Logger } from '@prism-gateway/node/logs';
import { alertGuidance } from './alerts/alertGuidance.ts';
import type { PaymentJournal } from './journal/openPaymentJournal.ts';
import { createHealthPage } from './metrics/createHealthPage.ts';
import { createMetrics, type Metrics } from './metrics/createMetrics.ts';
import { createStatusPage } from './metrics/createStatusPage.ts';
import type { Settings } from './settings/settings.ts';
import { secretsOf } from './settings/settings.ts';
import { type PayerParts, startPayer } from './startPayer.ts';

/** Time for what is under way when it is stopped, in milliseconds. */
const DRAIN_MS = 25_000;

/**
 * Starts the whole program of the payment relayer: payer, alerts and metrics.
 *
 * @returns its journal, and what stops it
 * @throws what `startPayer` throws
 */
export async function startPayments(options: {
  readonly settings: Settings<'payments'>;
  readonly log: Logger;
}): Promise<{
  readonly journal: PaymentJournal;
  stop(): Promise<void>;
}> {
  const { settings, log } = options;
  const redact = createRedactor(secretsOf(settings));
  const {
    RELAYER_PRIVATE_KEY: key,
    RELAYER_KEYSTORE: keystore,
    RELAYER_KEYSTORE_PASSWORD: keystorePassword,
  } = settings;
  // The schema has checked the key's digits.
  const account = await openAccount({ privateKey: key as `0x${string}` | undefined, keystore, keystorePassword });
  let metrics: Metrics | undefined;
  const openAlerter: PayerParts['openAlerter'] = ({ journal, signature }) => {
    const { outbox } = journal;
    const channels = openChannels(settings);
    const alerter = createOutbox({ outbox, channels, log, redact, signature, guide: alertGuidance, now: Date.now });
    return {
      ...alerter,
      raise(alert) {
        metrics?.countAlert(alert.code);
        alerter.raise(alert);
      },
    };
  };
  const monotonicNow = () => performance.now();
  const { beat: onPolled } = createHeartbeat({ url: settings.HEARTBEAT_URL, log, monotonicNow });
  const payer = await startPayer({ settings, account, openAlerter, log, onPolled });
  metrics = createMetrics({ ...payer, now: Date.now, monotonicNow });
  const { METRICS_HOST: host, METRICS_PORT: port } = settings;
  const { registry } = metrics;
  const { POLL_INTERVAL_MS: pollIntervalMs } = settings;
  const pages = {
    '/health': createHealthPage({ ...payer, pollIntervalMs, monotonicNow }),
    '/status': createStatusPage(payer),
  };
  const server = port === 'off' ? undefined : await serveMetrics({ registry, host, port, pages });
  if (server !== undefined) log.info({ metrics: server.url }, 'metrics are served');
  return {
    journal: payer.journal,
    async stop() {
      await payer.stop(DRAIN_MS);
      await server?.close();
    },
  };
}
