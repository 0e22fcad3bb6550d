import type { RecoveryCalls } from '../baselines/recoveryCalls.ts';
import type { BenchContext } from '../benchContext.ts';
import { startChild } from '../processes/startChild.ts';
import { startGateway } from '../processes/startGateway.ts';
import { alternate } from './alternate.ts';
import { createBacklog } from './createBacklog.ts';
import { createReplayMeter } from './createReplayMeter.ts';
import type { ResultRow } from './measureResult.ts';

/**
 * Measures claims, signature checked and durable, against the native library's raw recoveries on one core.
 *
 * @param context the bench
 * @returns one row
 */
export async function measureClaim(context: BenchContext): Promise<ResultRow[]> {
  const gateway = await startGateway(context);
  const recovery = await startChild<RecoveryCalls>({ entry: new URL('../entry/recovery.ts', import.meta.url) });
  context.cleanup.add(() => recovery.stop());
  const measure = createReplayMeter(context, { name: 'gateway', server: gateway, expectedStatus: 200 });

  const steps = {
    baseline: () => recovery.call('recover', { count: context.scale.recoveries }),
    async measure() {
      const requestIds = await createBacklog(context, { gateway, count: context.scale.claims });
      const { relayers } = context;
      const batchId = await context.load.call('prepare', { kind: 'claim', requestIds, relayers });
      const perSecond = await measure.run(batchId);
      await context.load.call('release', batchId);
      return perSecond;
    },
  };
  await alternate(1, steps);
  const figures = await alternate(context.options.runs, steps);
  return [
    {
      title: 'PATCH claim, signature checked',
      unit: 'claims/s',
      values: figures.measure,
      baseline: { title: 'raw recoveries on one core', values: figures.baseline },
      target: { of: 'ratio', is: 'at least', bound: 0.4 },
      notes: [measure.log.describe()],
    },
  ];
}
