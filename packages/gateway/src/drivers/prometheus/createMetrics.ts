import { REQUEST_STATUSES, type RequestStatus } from '@prism-gateway/protocol';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ChainCounts, QueueStats } from '../../ports/adminStore.ts';
import type { BudgetUse, DiskUse } from '../../ports/gatewayPorts.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { RequestStats } from '../../ports/requestStore.ts';
import type { WebhookRecord } from '../../ports/webhookStore.ts';

/** Upper bounds of the latency histogram, in seconds: from a read in memory to the function's time limit. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 29];

const MS_PER_SECOND = 1000;

interface Series {
  readonly count: Counter.Internal;
  readonly time: Histogram.Internal<string>;
}

/** Where the figures of a scrape come from. */
export interface MetricSources {
  readonly readStats: () => Promise<RequestStats>;
  /** Absent: nothing is measured by chain. */
  readonly readQueue?: () => Promise<Pick<QueueStats, 'chains' | 'oldestProcessingAt'>>;
  /** When the oldest pending request of a chain was stored. Absent: its age is not measured by chain. */
  readonly findOldestPending?: (chainName: string) => Promise<number | undefined>;
  /** How full the disk is; absent, or undefined: nothing of the service is on one. */
  readonly readDisk?: () => DiskUse | undefined;
  /** When the last backup was complete, in milliseconds since the epoch; undefined: none was made here. */
  readonly readLastBackup?: () => number | undefined;
  readonly listWebhooks?: () => Promise<readonly WebhookRecord[]>;
  /** Absent: budgets are not measured. */
  readonly readBudgets?: () => readonly BudgetUse[];
}

/** Shares one reading among the gauges of one scrape; a store that does not answer leaves them without values. */
function shareReading<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined;
  return () => {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}

/** In seconds. @param at - milliseconds since the epoch; undefined: there is none, whose age is 0 */
const ageOf = (at: number | undefined, now: number) => (at === undefined ? 0 : Math.max(0, now - at) / MS_PER_SECOND);

function watchStatuses(registers: [Registry], read: () => Promise<RequestStats | undefined>): void {
  new Gauge({
    name: 'prism_requests',
    help: 'Records by status',
    labelNames: ['status'],
    registers,
    async collect() {
      this.reset();
      const counts = (await read())?.countByStatus;
      if (counts !== undefined) for (const status of REQUEST_STATUSES) this.set({ status }, counts[status]);
    },
  });
}

/** Most chains that are reported by name: their names come from strangers. */
const MAX_CHAIN_LABELS = 20;
/** The label of all others together. */
const OTHER_CHAINS = 'other';

/** The chains that are reported by name: those with the most open requests. */
function nameChains(chains: readonly ChainCounts[]): readonly string[] {
  const open = ({ pending, processing }: ChainCounts) => pending + processing;
  const named = chains.filter(({ chainName }) => chainName !== null).sort((a, b) => open(b) - open(a));
  return named.slice(0, MAX_CHAIN_LABELS).map(({ chainName }) => chainName ?? '');
}

/** Counts by chain, those without a name of their own together. */
function boundChains(chains: readonly ChainCounts[]): Map<string, Record<RequestStatus, number>> {
  const named = new Set<string | null>(nameChains(chains));
  const counts = new Map<string, Record<RequestStatus, number>>();
  for (const chain of chains) {
    const label = named.has(chain.chainName) ? (chain.chainName ?? OTHER_CHAINS) : OTHER_CHAINS;
    const sum = counts.get(label) ?? { pending: 0, processing: 0, success: 0, failed: 0 };
    for (const status of REQUEST_STATUSES) sum[status] += chain[status];
    counts.set(label, sum);
  }
  return counts;
}

type ReadQueue = () => Promise<Pick<QueueStats, 'chains' | 'oldestProcessingAt'> | undefined>;

interface PendingSources {
  readonly now: () => number;
  readonly readStats: () => Promise<RequestStats | undefined>;
  readonly readQueue: ReadQueue;
  readonly findOldestPending?: MetricSources['findOldestPending'];
}

function watchPending(registers: [Registry], sources: PendingSources): void {
  const { now, readStats, readQueue, findOldestPending } = sources;
  async function readAges(): Promise<readonly (readonly [string, number])[]> {
    if (findOldestPending === undefined) return [];
    const chains = (await readQueue())?.chains ?? [];
    const read = async (chain: string) => [chain, ageOf(await findOldestPending(chain), now())] as const;
    // A store that does not answer leaves them without values.
    return await Promise.all(nameChains(chains).map(read)).catch(() => []);
  }
  new Gauge({
    name: 'prism_oldest_pending_seconds',
    help: 'Age of the oldest pending request, 0 when none is pending: without a label of all chains, and of the 20 chains with the most open requests; absent when the store does not answer',
    labelNames: ['chain'],
    registers,
    async collect() {
      this.reset();
      const stats = await readStats();
      if (stats === undefined) return;
      this.set(ageOf(stats.oldestPendingAt, now()));
      for (const [chain, age] of await readAges()) this.set({ chain }, age);
    },
  });
}

function watchChains(registers: [Registry], read: ReadQueue, now: () => number): void {
  new Gauge({
    name: 'prism_requests_by_chain',
    help: 'Records by chain and status: the 20 chains with the most open requests by name, the others as "other"',
    labelNames: ['chain', 'status'],
    registers,
    async collect() {
      this.reset();
      for (const [chain, counts] of boundChains((await read())?.chains ?? [])) {
        for (const status of REQUEST_STATUSES) this.set({ chain, status }, counts[status]);
      }
    },
  });
  new Gauge({
    name: 'prism_oldest_processing_seconds',
    help: 'Age of the oldest request that is processing, 0 when none is; absent when the store does not answer',
    registers,
    async collect() {
      this.remove();
      const stats = await read();
      if (stats === undefined) return;
      this.set(ageOf(stats.oldestProcessingAt, now()));
    },
  });
}

function watchDisk(registers: [Registry], { readDisk, readLastBackup }: MetricSources): void {
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.remove();
        const value = read();
        if (value !== undefined) this.set(value);
      },
    });
  gauge('prism_disk_free_bytes', 'Bytes that are free on the disk of DATA_DIR', () => readDisk?.()?.freeBytes);
  gauge('prism_disk_least_bytes', 'Bytes below which posts are refused', () => readDisk?.()?.leastFreeBytes);
  gauge(
    'prism_last_backup_timestamp_seconds',
    'When the last backup was complete; absent if none was made here',
    () => {
      const at = readLastBackup?.();
      return at === undefined ? undefined : at / MS_PER_SECOND;
    },
  );
}

function watchWebhooks(registers: [Registry], list: () => Promise<readonly WebhookRecord[]>): void {
  const read = shareReading(list);
  const gauge = (name: string, help: string, sum: (webhooks: readonly WebhookRecord[]) => number) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        this.remove();
        const webhooks = await read();
        if (webhooks !== undefined) this.set(sum(webhooks));
      },
    });
  gauge('prism_webhooks_disabled', 'Webhooks that were disabled since nothing could be delivered', (webhooks) => {
    return webhooks.filter(({ health }) => health.disabledAt !== undefined).length;
  });
  gauge('prism_webhooks_failing', 'Webhooks that nothing could be delivered to since the last attempt', (webhooks) => {
    return webhooks.filter(({ enabled, health }) => enabled && health.failingSince !== undefined).length;
  });
  gauge('prism_webhook_deliveries_waiting', 'Deliveries that wait to be sent', (webhooks) => {
    return webhooks.reduce((total, { health }) => total + health.waiting, 0);
  });
}

function watchBudgets(registers: [Registry], readBudgets: () => readonly BudgetUse[]): void {
  new Gauge({
    name: 'prism_budget_used',
    help: 'What is in use of a budget: bytes of bodies under way, of heads that have not come in wholly, of answers not yet read and of calls that wait, and connections',
    labelNames: ['budget'],
    registers,
    collect() {
      for (const { name, used } of readBudgets()) this.set({ budget: name }, used);
    },
  });
  new Gauge({
    name: 'prism_budget_ended',
    help: 'Bodies, answers, calls and connections that were ended so far to make room for others',
    labelNames: ['budget'],
    registers,
    collect() {
      for (const { name, ended } of readBudgets()) this.set({ budget: name }, ended);
    },
  });
}

/**
 * Makes the metrics that Prometheus scrapes: HTTP requests and their latency, claims, the queue, and the process itself.
 *
 * @param sources - the queue's figures and the budgets, read at each scrape
 */
export function createMetrics(sources: MetricSources, now: () => number): Metrics {
  const { findOldestPending, readBudgets } = sources;
  const registry = new Registry();
  const registers: [Registry] = [registry];
  collectDefaultMetrics({ register: registry });
  const answers = new Counter({
    name: 'prism_http_requests_total',
    help: 'Answered HTTP requests',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const latency = new Histogram({
    name: 'prism_http_request_seconds',
    help: 'Time from the arrival of an HTTP request to its answer',
    labelNames: ['method', 'route'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const claims = new Counter({ name: 'prism_claims_total', help: 'Claims', labelNames: ['result'], registers });
  // A rate has two ends: what never happened starts at 0.
  for (const result of ['won', 'lost']) claims.inc({ result }, 0);
  const readStats = shareReading(sources.readStats);
  const readQueue = shareReading(sources.readQueue ?? (async () => ({ chains: [] })));
  watchStatuses(registers, readStats);
  watchPending(registers, { now, readStats, readQueue, findOldestPending });
  if (sources.readQueue !== undefined) watchChains(registers, readQueue, now);
  if (readBudgets !== undefined) watchBudgets(registers, readBudgets);
  watchDisk(registers, sources);
  if (sources.listWebhooks !== undefined) watchWebhooks(registers, sources.listWebhooks);
  // Looking a series up by its labels costs more than counting: each one is looked up once, and then by texts as they came,
  // whose hashes are known already.
  const known = new Map<string, Map<string, Map<number, Series>>>();
  function seriesOf(method: string, route: string, status: number): Series {
    const found = known.get(route)?.get(method)?.get(status);
    if (found !== undefined) return found;
    const series = { count: answers.labels(method, route, String(status)), time: latency.labels(method, route) };
    const ofRoute = known.get(route) ?? new Map<string, Map<number, Series>>();
    const ofMethod = ofRoute.get(method) ?? new Map<number, Series>();
    known.set(route, ofRoute.set(method, ofMethod.set(status, series)));
    return series;
  }
  return {
    answered({ method, route, status, seconds }) {
      const { count, time } = seriesOf(method, route, status);
      count.inc();
      time.observe(seconds);
    },
    claimed: (result) => claims.inc({ result }),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
