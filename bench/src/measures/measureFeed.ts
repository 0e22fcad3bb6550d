import type { BenchContext } from '../benchContext.ts';
import { startGateway } from '../processes/startGateway.ts';
import { alternate } from './alternate.ts';
import type { ResultRow } from './measureResult.ts';

const postsPerSecond = 100;

/**
 * Measures the time from a post until a relayer that follows the feed has it.
 *
 * @param context the bench
 * @returns a row for the median and one for the 99th percentile
 */
export async function measureFeed(context: BenchContext): Promise<ResultRow[]> {
  const gateway = await startGateway(context);
  // There is always one.
  const relayer = context.relayers[0]!;
  const run = { port: gateway.port, relayer, posts: context.scale.feedPosts, perSecond: postsPerSecond };
  const p99s: number[] = [];
  const p50 = async () => {
    const latency = await context.load.call('feed', run);
    p99s.push(latency.p99);
    return latency.p50;
  };
  await alternate(1, { p50 });
  p99s.length = 0;
  const figures = await alternate(context.options.runs, { p50 });
  const title = `POST to seen in the feed, ${postsPerSecond} posts/s`;
  const notes = [`${run.posts} posts a run; from the sending of a post to the answer of the feed, which waits`];
  return [
    {
      title: `${title}, p50`,
      unit: 'ms',
      values: figures.p50,
      target: { of: 'value', is: 'at most', bound: 5 },
      notes,
    },
    { title: `${title}, p99`, unit: 'ms', values: p99s, target: { of: 'value', is: 'at most', bound: 25 } },
  ];
}
