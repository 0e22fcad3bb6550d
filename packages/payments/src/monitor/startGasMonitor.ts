import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createHeartbeat, lockFile, makeDirectory, serveMetrics } from '@prism-gateway/node';
import { createOutbox, createRedactor, openChannels } from '@prism-gateway/node/alerts';
import type { Logger } from '@prism-gateway/node/logs';
import { alertGuidance } from '../alerts/alertGuidance.ts';
import type { Settings } from '../settings/settings.ts';
import { secretsOf } from '../settings/settings.ts';
import { createMonitor, type MonitorReading } from './createMonitor.ts';
import { createMonitorMetrics } from './createMonitorMetrics.ts';
import { createMonitorPage } from './createMonitorPage.ts';
import { listTargets } from './listTargets.ts';
import { writeLimits } from './lookOnce.ts';
import { openMonitorStore } from './openMonitorStore.ts';

/** Time for the last alerts, in milliseconds. */
const ALERT_DRAIN_MS = 5000;
/** A chain that nobody uses, as a developer's own, may have no blocks for long. */
const DEFAULT_HEAD_AGE_SECONDS = { dev: 0, prod: 600 } as const;

/**
 * Starts the whole program of the gas monitor: looks, alerts and metrics.
 *
 * @throws LockHeldError if another one uses its folder
 */
export async function startGasMonitor(options: {
  readonly settings: Settings<'gas-monitor'>;
  readonly log: Logger;
}): Promise<{ stop(): Promise<void> }> {
  const { settings, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const redact = createRedactor(secretsOf(settings));
  // Two of one folder would send everything twice.
  makeDirectory(settings.DATA_DIR);
  const lock = lockFile(join(settings.DATA_DIR, 'gas-monitor.lock'));
  const store = openMonitorStore({ file: join(settings.DATA_DIR, 'gas-monitor.db'), now: Date.now });
  const { INSTANCE_NAME: name = hostname() } = settings;
  const alerter = createOutbox({
    outbox: store.outbox,
    channels: openChannels(settings),
    log,
    redact,
    signature: `Gas monitor ${name}.`,
    guide: alertGuidance,
    now: Date.now,
  });
  const targets = await listTargets(settings, signal);
  const metrics = createMonitorMetrics({
    chains: targets.map(({ name }) => name),
    warnBelow: settings.GAS_WARN_BALANCE_ETH,
    warnStablecoinsBelow: settings.STABLECOIN_WARN_BALANCE,
  });
  const { METRICS_HOST: host, METRICS_PORT: port } = settings;
  const { registry } = metrics;
  const readings = new Map<string, MonitorReading>();
  const pages = { '/status': createMonitorPage({ readings, store, limits: writeLimits(settings) }) };
  const server = port === 'off' ? undefined : await serveMetrics({ registry, host, port, pages });
  if (server !== undefined) log.info({ metrics: server.url }, 'metrics are served');
  const look = createMonitor({
    targets,
    metrics,
    warnBelow: settings.GAS_WARN_BALANCE_ETH,
    warnStablecoinsBelow: settings.STABLECOIN_WARN_BALANCE,
    maxHeadAgeMs: (settings.MAX_HEAD_AGE_SECONDS ?? DEFAULT_HEAD_AGE_SECONDS[settings.STAGE]) * 1000,
    store,
    alerter,
    log,
    now: Date.now,
    monotonicNow: () => performance.now(),
    healthUrl: settings.PAYMENTS_HEALTH_URL,
    onReading: (reading) => void readings.set(`${reading.account} on ${reading.chain}`, reading),
  });
  const heartbeat = createHeartbeat({ url: settings.HEARTBEAT_URL, log, monotonicNow: () => performance.now() });
  const listed = targets.map(({ name, addresses }) => ({ name, addresses }));
  log.info({ targets: listed, limits: writeLimits(settings) }, 'gas monitor at work');
  const watching = (async () => {
    while (!signal.aborted) {
      await look();
      heartbeat.beat();
      await pause(settings.GAS_POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await watching;
      await server?.close();
      await alerter.drain(ALERT_DRAIN_MS);
      alerter.close();
      store.close();
      lock.release();
    },
  };
}
