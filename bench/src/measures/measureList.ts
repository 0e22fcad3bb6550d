import type { BenchContext } from '../benchContext.ts';
import { readUsage } from '../processes/readUsage.ts';
import { type Gateway, startGateway } from '../processes/startGateway.ts';
import { median } from '../report/median.ts';
import { alternate } from './alternate.ts';
import { createRunLog } from './createRunLog.ts';
import type { ResultRow } from './measureResult.ts';

/** One call at a time: what is asked is how long a page takes, not how many fit into a second. */
const connections = 1;

/** Calls of a run that reads the stats. */
const STATS_CALLS = 200;

/**
 * Measures the median latency of the first page of pending requests, and of the administrator's stats, with a large backlog against a small
 * one.
 *
 * @param context the bench
 * @returns both rows, and one for filling the large backlog over HTTP
 */
export async function measureList(context: BenchContext): Promise<ResultRow[]> {
  const { scale, options } = context;
  const small = await startFilled(context, scale.smallBacklog);
  const large = await startFilled(context, scale.largeBacklog);
  const smallPages = createPages(context, { name: `${count(scale.smallBacklog)} pending`, gateway: small.gateway });
  const largePages = createPages(context, { name: `${count(scale.largeBacklog)} pending`, gateway: large.gateway });

  const steps = { baseline: smallPages.run, measure: largePages.run };
  await alternate(1, steps);
  const figures = await alternate(options.runs, steps);
  const stats = await alternate(options.runs, {
    baseline: () => readStatsMs(small.gateway),
    measure: () => readStatsMs(large.gateway),
  });
  const usage = await readUsage(large.gateway.pid);
  const memory = usage
    ? [`resident with the large backlog: ${usage.residentMb.toFixed(0)} MB, peak ${usage.peakMb.toFixed(0)} MB`]
    : [];
  return [
    {
      title: `GET /requests?status=pending&limit=100, p50 with ${count(scale.largeBacklog)} pending`,
      unit: 'ms',
      values: figures.measure,
      baseline: { title: `with ${count(scale.smallBacklog)} pending`, values: figures.baseline },
      target: { of: 'ratio', is: 'at most', bound: 1.3 },
      notes: [smallPages.describe(), largePages.describe(), ...memory],
    },
    {
      title: `GET /admin/stats, p50 with ${count(scale.largeBacklog)} pending`,
      unit: 'ms',
      values: stats.measure,
      baseline: { title: `with ${count(scale.smallBacklog)} pending`, values: stats.baseline },
      target: { of: 'value', is: 'at most', bound: 5 },
      notes: [`${STATS_CALLS} calls a run, one at a time, by fetch`],
    },
    {
      title: `POST /requests, filling ${count(scale.largeBacklog)}`,
      unit: 'requests/s',
      values: [large.perSecond],
      notes: ['one run, bodies made on the way'],
    },
  ];
}

/** How long the stats take. @returns the median of a run's calls, in milliseconds */
async function readStatsMs({ url, adminKey }: Gateway): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < STATS_CALLS; call++) {
    const startedAt = performance.now();
    const answer = await fetch(`${url}/admin/stats`, { headers: { 'x-admin-key': adminKey } });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`GET /admin/stats answered ${answer.status}.`);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

async function startFilled(context: BenchContext, backlog: number) {
  const gateway = await startGateway(context);
  context.tell(`  filling a backlog of ${count(backlog)} over HTTP`);
  const { connections } = context.options;
  const { perSecond } = await context.load.call('fill', { port: gateway.port, connections, count: backlog });
  return { gateway, perSecond };
}

function createPages(context: BenchContext, params: { readonly name: string; readonly gateway: Gateway }) {
  const { name, gateway } = params;
  const log = createRunLog(name, gateway.pid);
  return {
    async run() {
      const { relayers, scale } = context;
      const batchId = await context.load.call('prepare', { kind: 'list', count: scale.lists, relayers });
      const replay = { batchId, port: gateway.port, connections, expectedStatus: 200, keepRequestIds: false };
      const seen = await log.watch(() => context.load.call('replay', replay));
      await context.load.call('release', batchId);
      return seen.latencyMs.p50;
    },
    describe: () => log.describe(),
  };
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
