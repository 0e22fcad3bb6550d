import { mkdir } from 'node:fs/promises';
import { openAccount } from '@prism-gateway/crypto/accounts';
import { createRelayerClient } from '@prism-gateway/sdk';
import type { Logger } from 'pino';
import { createKeepAliveFetch } from './gateway/createKeepAliveFetch.ts';
import { createMetrics } from './metrics/createMetrics.ts';
import { serveMetrics } from './metrics/serveMetrics.ts';
import type { Settings } from './settings/settings.ts';
import { type ChainWorker, startChainWorker } from './work/startChainWorker.ts';

/** A relayer at work. */
export interface RunningRelayer {
  readonly address: string;
  /** Like `http://127.0.0.1:9464`; undefined where metrics are off. */
  readonly metricsUrl: string | undefined;
  /** Claims nothing more, finishes what is claimed as far as the time goes, and closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts a relayer on all its chains.
 *
 * @param options.settings - parsed
 * @param options.logger - one line of JSON an event
 * @throws AccountError, ChainError, SenderError, Error of node:net or node:fs
 */
export async function startRelayer(options: {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
}): Promise<RunningRelayer> {
  const { settings, logger, now, random } = options;
  const account = await openAccount(settings);
  await mkdir(settings.dataDir, { recursive: true });
  const metrics = createMetrics();
  const { registry } = metrics;
  const server =
    settings.metricsPort === 'off' ? undefined : await serveMetrics({ registry, port: settings.metricsPort });
  const gateway = createRelayerClient({ url: settings.gatewayUrl, account, fetch: createKeepAliveFetch() });
  const workers: ChainWorker[] = [];
  async function stop(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.stop(settings.drainMs)));
    await server?.close();
  }
  try {
    for (const chain of settings.chains) {
      const log = logger.child({ chain: chain.chainName });
      workers.push(await startChainWorker({ settings, chain, account, gateway, metrics, logger: log, now, random }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { address: account.address, metricsUrl: server?.url, stop };
}
