import { REQUEST_STATUSES } from '@prism-gateway/protocol';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from '../../ports/metrics.ts';
import type { RequestStats } from '../../ports/requestStore.ts';

/** Upper bounds of the latency histogram, in seconds: from a read in memory to the function's time limit. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 29];

const MS_PER_SECOND = 1000;

interface Series {
  readonly count: Counter.Internal;
  readonly time: Histogram.Internal<string>;
}

/** Shares one reading among the gauges of one scrape; a store that does not answer leaves them without values. */
function shareReading(readStats: () => Promise<RequestStats>): () => Promise<RequestStats | undefined> {
  let reading: Promise<RequestStats | undefined> | undefined;
  return () => {
    reading ??= readStats()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}

function watchQueue(registers: [Registry], readStats: () => Promise<RequestStats>, now: () => number): void {
  const read = shareReading(readStats);
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
  new Gauge({
    name: 'prism_oldest_pending_seconds',
    help: 'Age of the oldest pending request, 0 when none is pending; absent when the store does not answer',
    registers,
    async collect() {
      this.remove();
      const stats = await read();
      if (stats === undefined) return;
      const { oldestPendingAt } = stats;
      this.set(oldestPendingAt === undefined ? 0 : Math.max(0, now() - oldestPendingAt) / MS_PER_SECOND);
    },
  });
}

/**
 * Makes the metrics that Prometheus scrapes: HTTP requests and their latency, claims, the queue, and the process itself.
 *
 * @param readStats - the queue's figures, read at each scrape
 */
export function createMetrics(readStats: () => Promise<RequestStats>, now: () => number): Metrics {
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
  watchQueue(registers, readStats, now);
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
