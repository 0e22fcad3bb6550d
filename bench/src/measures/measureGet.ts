import type { BenchContext } from '../benchContext.ts';
import { startBareServer } from '../processes/startBareServer.ts';
import { startGateway } from '../processes/startGateway.ts';
import { alternate } from './alternate.ts';
import { createBacklog } from './createBacklog.ts';
import { createReplayMeter } from './createReplayMeter.ts';
import type { ResultRow } from './measureResult.ts';

/** Records that are read in turn: enough that no answer can be kept ready by accident. */
const records = 10_000;

/**
 * Measures `GET /requests/{requestId}` against a bare handler that answers one such record as a constant.
 *
 * @param context the bench
 * @returns one row
 */
export async function measureGet(context: BenchContext): Promise<ResultRow[]> {
  const gateway = await startGateway(context);
  const requestIds = await createBacklog(context, { gateway, count: records });
  const constant = await (await fetch(`${gateway.url}/requests/${requestIds[0]}`)).text();
  const bare = await startBareServer(context, constant);
  const batchId = await context.load.call('prepare', { kind: 'read', requestIds, count: context.scale.reads });
  const baseline = createReplayMeter(context, { name: 'bare', server: bare, expectedStatus: 200 });
  const measure = createReplayMeter(context, { name: 'gateway', server: gateway, expectedStatus: 200 });

  await alternate(1, { warmBare: () => baseline.run(batchId), warmGateway: () => measure.run(batchId) });
  const figures = await alternate(context.options.runs, {
    baseline: () => baseline.run(batchId),
    measure: () => measure.run(batchId),
  });
  await context.load.call('release', batchId);
  return [
    {
      title: 'GET /requests/{id}',
      unit: 'requests/s',
      values: figures.measure,
      baseline: { title: 'bare handler, constant of the same size', values: figures.baseline },
      target: { of: 'ratio', is: 'at least', bound: 0.65 },
      notes: [`answer of ${Buffer.byteLength(constant)} bytes`, baseline.log.describe(), measure.log.describe()],
    },
  ];
}
