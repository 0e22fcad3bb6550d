import type { PresignerCalls } from '../baselines/presignerCalls.ts';
import type { BenchContext } from '../benchContext.ts';
import { startBareServer } from '../processes/startBareServer.ts';
import { startChild } from '../processes/startChild.ts';
import { type Gateway, startGateway } from '../processes/startGateway.ts';
import { storageSettings } from '../processes/storageSettings.ts';
import { alternate } from './alternate.ts';
import { createReplayMeter, type ReplayMeterParams } from './createReplayMeter.ts';
import { fetchTokens } from './fetchTokens.ts';
import type { ResultRow } from './measureResult.ts';

/** Users who ask for presigned URLs. */
const users = 50;

/** Orders a run of the signer alone, for each order of a run over HTTP: it is that much faster. */
const ordersAlone = 5;

/**
 * Measures `POST /storage/sign` against the official presigner alone. For comparison: with the local signer, a bare handler that
 * gets the same calls, which bounds what any service on this stack can do, and the gateway's signer alone.
 *
 * @param context the bench
 * @returns four rows; the one for S3 carries the target
 */
export async function measureSign(context: BenchContext): Promise<ResultRow[]> {
  const presigner = await startChild<PresignerCalls>({ entry: new URL('../entry/presigner.ts', import.meta.url) });
  context.cleanup.add(() => presigner.stop());
  const s3 = await startSigning(context, {
    name: 'gateway, S3',
    gateway: await startGateway(context, storageSettings),
  });
  const local = await startSigning(context, { name: 'gateway, local', gateway: await startGateway(context) });
  const bare = await startBare(context);

  const steps = {
    baseline: () => presigner.call('presign', { count: context.scale.presigns }),
    s3: s3.run,
    local: local.run,
    bare: bare.run,
    alone: () => presigner.call('sign', { count: context.scale.signs * ordersAlone }),
  };
  await alternate(1, steps);
  const figures = await alternate(context.options.runs, steps);
  const row = { unit: 'URLs/s', baseline: { title: 'official presigner alone', values: figures.baseline } };
  const target = { of: 'ratio', is: 'at least', bound: 10 } as const;
  return [
    { ...row, title: 'POST /storage/sign, S3', values: figures.s3, target, notes: [s3.describe()] },
    { ...row, title: 'POST /storage/sign, local', values: figures.local, notes: [local.describe()] },
    { ...row, title: 'the same calls to a bare handler', values: figures.bare, notes: [bare.describe()] },
    { ...row, title: "the gateway's S3 signer alone", values: figures.alone },
  ];
}

async function startBare(context: BenchContext) {
  const server = await startBareServer(context, '{}');
  // Any text of a token's length does: nobody looks at it.
  const tokens = ['x'.repeat(600)];
  return createSigning(context, { name: 'bare', server, tokens, expectedStatus: 201 });
}

async function startSigning(context: BenchContext, params: { readonly name: string; readonly gateway: Gateway }) {
  const { name, gateway } = params;
  const tokens = await fetchTokens(gateway.url, users);
  return createSigning(context, { name, server: gateway, tokens, expectedStatus: 200 });
}

function createSigning(context: BenchContext, params: ReplayMeterParams & { readonly tokens: readonly string[] }) {
  const { tokens } = params;
  const meter = createReplayMeter(context, params);
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
