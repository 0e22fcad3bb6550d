import { createHeartbeat, makeDirectory, type PageMaker, serveMetrics } from '@prism-gateway/node';
import { openAccount } from '@prism-gateway/node/accounts';
import { type Logger, withFields } from '@prism-gateway/node/logs';
import { type Tracer, traceFetch } from '@prism-gateway/node/tracing';
import { createRelayerClient, type RelayerClient } from '@prism-gateway/sdk';
import { createHealth, type Health, healthPage, listOfChains } from './events/createHealth.ts';
import { createMetrics } from './events/createMetrics.ts';
import { createKeepAliveFetch, watchFetch } from './gateway/watchFetch.ts';
import { type ChainWorker, startChainWorker } from './lifecycle/runChain.ts';
import { journalPath, type Settings } from './settings/settings.ts';
import { readStatus } from './status/readStatus.ts';
import { readStory } from './status/readStory.ts';

/** A part of the health that nothing has been heard of for longer counts as failed, in milliseconds. */
const SILENT_MS = 60_000;

const HEARTBEAT_MS = 30_000;

/** Milliseconds of a clock that is never set: how long something takes must not depend on what people set theirs to. */
const monotonicNow = () => performance.now();

/** A relayer at work. */
export interface RunningRelayer {
  readonly address: string;
  /** Like `http://127.0.0.1:9464`; undefined if metrics are off. */
  readonly metricsUrl: string | undefined;
  /** Claims nothing more, finishes what is claimed as far as the time goes, and closes everything. */
  stop(): Promise<void>;
}

/** The watched parts of a relayer. */
interface Watched {
  readonly gatewayHealth: Health;
  readonly chainHealth: ReadonlyMap<string, Health>;
  readonly workers: readonly ChainWorker[];
}

const listHealth = ({ gatewayHealth, chainHealth }: Watched) => ({
  faults: [...gatewayHealth.faults(), ...listOfChains(chainHealth, 'faults')],
  warnings: listOfChains(chainHealth, 'warnings'),
});

/** `/health` for machines, `/status` for people and programs, with all of one request by `?about=ID`. */
function createPages(
  watched: Watched,
  { address, dataDir, now }: { readonly address: string; readonly dataDir: string; readonly now: () => number },
): Record<string, PageMaker> {
  const storyOf = ({ chainId, journal }: NonNullable<ReturnType<ChainWorker['view']>>, requestId: string) =>
    readStory(journal, journalPath({ dataDir, kind: 'sender', address, chainId }), requestId);
  return {
    '/health': () => healthPage(listHealth(watched)),
    '/status'({ searchParams }) {
      const requestId = searchParams.get('about')?.toLowerCase();
      const chains = watched.workers.map((worker) => {
        const view = worker.view();
        return {
          chainName: worker.chainName,
          ...(view && { chainId: view.chainId, ...readStatus(view.journal, now()) }),
          ...(view && requestId && { story: storyOf(view, requestId) }),
        };
      });
      const body = `${JSON.stringify({ program: 'relayer', relayer: address, ...listHealth(watched), chains })}\n`;
      return { contentType: 'application/json', body };
    },
  };
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
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}): Promise<RunningRelayer> {
  const { settings, logger, now, random, tracer } = options;
  const account = await openAccount(settings);
  makeDirectory(settings.dataDir);
  const metrics = createMetrics(settings.chains.map(({ chainName }) => chainName));
  // A queue that is looked at rarely is heard of as rarely.
  const silentMs = Math.max(SILENT_MS, 2 * settings.policy.pollMaxMs);
  const gatewayHealth = createHealth({ parts: ['gateway', 'clock'], silentMs, now, monotonicNow });
  const chainHealth = new Map(
    settings.chains.map(({ chainName }) => [
      chainName,
      createHealth({
        parts: ['budget', 'chain', 'clock', 'journal', 'evaluation', 'key', 'nodes', 'refusals'],
        silentMs,
        now,
        monotonicNow,
      }),
    ]),
  );
  const workers: ChainWorker[] = [];
  const observed = { gatewayHealth, chainHealth, workers };
  const pages = createPages(observed, { address: account.address, dataDir: settings.dataDir, now });
  const { registry } = metrics;
  const { metricsHost: host, metricsPort: port } = settings;
  const server = port === 'off' ? undefined : await serveMetrics({ registry, host, port, pages });
  const heartbeat = createHeartbeat({ url: settings.heartbeatUrl, log: logger, monotonicNow });
  const beating = setInterval(() => {
    if (listHealth(observed).faults.length === 0) heartbeat.beat();
  }, HEARTBEAT_MS);
  const gatewayReturns = new Set<() => void>();
  const watched = watchFetch(createKeepAliveFetch(), {
    health: gatewayHealth,
    now,
    onReturn() {
      for (const listener of gatewayReturns) listener();
    },
  });
  const fetch = tracer === undefined ? watched : traceFetch(tracer, watched);
  const calls = { url: settings.gatewayUrl, feedUrl: settings.gatewayFeedUrl, account, fetch };
  const patient = createRelayerClient(calls);
  const once = createRelayerClient({ ...calls, retry: { attempts: 1 } });
  // A long wait is not begun again by itself: whoever waits asks first whether the gateway is there.
  const readFeed: RelayerClient['readFeed'] = (query) => ((query.wait ?? 0) > 0 ? once : patient).readFeed(query);
  const client = { ...patient, readFeed };
  async function stop(): Promise<void> {
    clearInterval(beating);
    await Promise.all(workers.map((worker) => worker.stop(settings.drainMs)));
    await server?.close();
  }
  try {
    for (const chain of settings.chains) {
      const log = withFields(logger, { chain: chain.chainName });
      // Each chain has its health.
      const health = chainHealth.get(chain.chainName)!;
      const shared = { settings, account, client, gatewayReturns, metrics, now, monotonicNow, random, tracer };
      workers.push(await startChainWorker({ ...shared, chain, health, logger: log }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { address: account.address, metricsUrl: server?.url, stop };
}
