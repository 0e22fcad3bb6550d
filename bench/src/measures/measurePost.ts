import type { BenchContext } from '../benchContext.ts';
import { startBareServer } from '../processes/startBareServer.ts';
import { startGateway } from '../processes/startGateway.ts';
import { alternate } from './alternate.ts';
import { createReplayMeter } from './createReplayMeter.ts';
import type { ResultRow } from './measureResult.ts';

/**
 * Measures `POST /requests`, durable, against a bare handler that parses the same bodies and answers 201.
 *
 * @param context the bench
 * @returns one row
 */
export async function measurePost(context: BenchContext): Promise<ResultRow[]> {
  const gateway = await startGateway(context);
  const bare = await startBareServer(context, '{}');
  const baseline = createReplayMeter(context, { name: 'bare', server: bare, expectedStatus: 201 });
  const measure = createReplayMeter(context, { name: 'gateway', server: gateway, expectedStatus: 201 });

  // Each round has signatures of its own; baseline and measure get the same bytes.
  let batchId = 0;
  const steps = {
    async baseline() {
      await context.load.call('release', batchId);
      batchId = await context.load.call('prepare', { kind: 'create', count: context.scale.creates });
      return baseline.run(batchId);
    },
    measure: () => measure.run(batchId),
  };
  await alternate(1, steps);
  const figures = await alternate(context.options.runs, steps);
  await context.load.call('release', batchId);
  return [
    {
      title: 'POST /requests, durable',
      unit: 'requests/s',
      values: figures.measure,
      baseline: { title: 'bare handler that parses the JSON, 201', values: figures.baseline },
      target: { of: 'ratio', is: 'at least', bound: 0.5 },
      notes: [baseline.log.describe(), measure.log.describe()],
    },
  ];
}
