import type { BenchContext } from '../benchContext.ts';
import { startGateway } from '../processes/startGateway.ts';
import { chainName } from '../signing/writeRequestBody.ts';
import { alternate } from './alternate.ts';
import { createRunLog } from './createRunLog.ts';
import type { ResultRow } from './measureResult.ts';

/** Pending requests of the chain that is listed: a full page. */
const ownBacklog = 100;

/**
 * Measures the median latency of the first page of one chain, with many pending requests of another before it, against a queue that
 * holds nothing else.
 *
 * @param context the bench
 * @returns one row
 */
export async function measureChain(context: BenchContext): Promise<ResultRow[]> {
  const { scale, options } = context;
  const alone = await startChain(context, 0);
  const behind = await startChain(context, scale.otherChain);
  const steps = { baseline: alone.run, measure: behind.run };
  await alternate(1, steps);
  const figures = await alternate(options.runs, steps);
  return [
    {
      title: `first page of one chain behind ${scale.otherChain.toLocaleString('en-US')} of another, p50`,
      unit: 'ms',
      values: figures.measure,
      baseline: { title: 'with nothing else in the queue', values: figures.baseline },
      target: { of: 'ratio', is: 'at most', bound: 1.3 },
      notes: [alone.describe(), behind.describe()],
    },
  ];
}

async function startChain(context: BenchContext, others: number) {
  const gateway = await startGateway(context);
  const name = others === 0 ? 'alone' : 'behind others';
  const log = createRunLog(name, gateway.pid);
  const fill = { port: gateway.port, connections: context.options.connections };
  if (others > 0) {
    context.tell(`  filling ${others.toLocaleString('en-US')} of another chain over HTTP`);
    await context.load.call('fill', { ...fill, count: others, chainName: 'eip155:1' });
  }
  await context.load.call('fill', { ...fill, count: ownBacklog });
  return {
    async run() {
      const { relayers, scale } = context;
      const batchId = await context.load.call('prepare', { kind: 'list', count: scale.lists, relayers, chainName });
      const replay = { batchId, port: gateway.port, connections: 1, expectedStatus: 200, keepRequestIds: false };
      const seen = await log.watch(() => context.load.call('replay', replay));
      await context.load.call('release', batchId);
      return seen.latencyMs.p50;
    },
    describe: () => log.describe(),
  };
}
