import type { PresignerCalls } from '../baselines/presignerCalls.ts';
import type { BenchContext } from '../benchContext.ts';
import { startChild } from '../processes/startChild.ts';
import { type Gateway, startGateway } from '../processes/startGateway.ts';
import { storageSettings } from '../processes/storageSettings.ts';
import { alternate } from './alternate.ts';
import { createReplayMeter } from './createReplayMeter.ts';
import { fetchTokens } from './fetchTokens.ts';
import type { ResultRow } from './measureResult.ts';

/** Users who ask for presigned URLs. */
const users = 50;

/**
 * Measures `POST /storage/sign`, with the signer for S3 and with the local one, against the official presigner alone.
 *
 * @param context the bench
 * @returns two rows; the target is the one for S3
 */
export async function measureSign(context: BenchContext): Promise<ResultRow[]> {
  const presigner = await startChild<PresignerCalls>({ entry: new URL('../entry/presigner.ts', import.meta.url) });
  context.cleanup.add(() => presigner.stop());
  const s3 = await startSigning(context, {
    name: 'gateway, S3',
    gateway: await startGateway(context, storageSettings),
  });
  const local = await startSigning(context, { name: 'gateway, local', gateway: await startGateway(context) });

  const steps = {
    baseline: () => presigner.call('presign', { count: context.scale.presigns }),
    s3: s3.run,
    local: local.run,
  };
  await alternate(1, steps);
  const figures = await alternate(context.options.runs, steps);
  const baseline = { title: 'official presigner alone', values: figures.baseline };
  return [
    {
      title: 'POST /storage/sign, S3',
      unit: 'URLs/s',
      values: figures.s3,
      baseline,
      target: { of: 'ratio', is: 'at least', bound: 10 },
      notes: [s3.describe()],
    },
    { title: 'POST /storage/sign, local', unit: 'URLs/s', values: figures.local, baseline, notes: [local.describe()] },
  ];
}

async function startSigning(context: BenchContext, params: { readonly name: string; readonly gateway: Gateway }) {
  const { name, gateway } = params;
  const tokens = await fetchTokens(gateway.url, users);
  const meter = createReplayMeter(context, { name, server: gateway, expectedStatus: 200 });
  return {
    async run() {
      const batchId = await context.load.call('prepare', { kind: 'sign', count: context.scale.signs, tokens });
      const perSecond = await meter.run(batchId);
      await context.load.call('release', batchId);
      return perSecond;
    },
    describe: () => meter.log.describe(),
  };
}
