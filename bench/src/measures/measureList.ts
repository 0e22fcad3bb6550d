import type { BenchContext } from '../benchContext.ts';
import { readUsage } from '../processes/readUsage.ts';
import { type Gateway, startGateway } from '../processes/startGateway.ts';
import { alternate } from './alternate.ts';
import { createRunLog } from './createRunLog.ts';
import type { ResultRow } from './measureResult.ts';

/** One call at a time: what is asked is how long a page takes, not how many fit into a second. */
const connections = 1;

/**
 * Measures the median latency of the first page of pending requests, with a large backlog against a small one.
 *
 * @param context the bench
 * @returns the row, and one for filling the large backlog over HTTP
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
      title: `POST /requests, filling ${count(scale.largeBacklog)}`,
      unit: 'requests/s',
      values: [large.perSecond],
      notes: ['one run, bodies made on the way'],
    },
  ];
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
