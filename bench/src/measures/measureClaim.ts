import { randomBytes } from 'node:crypto';
import { loadSecp256k1 } from '@prism-gateway/node/crypto';
import type { BenchContext } from '../benchContext.ts';
import type { BenchRelayer } from '../load/loadRelayers.ts';
import { type Call, replay } from '../load/runLoad.ts';
import { startGateway } from '../processes/startGateway.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { alternate } from './alternate.ts';
import { createMeter } from './createMeter.ts';
import { createRequests } from './createRequests.ts';

/** Signs an update of a request. */
export function updateCall(relayer: BenchRelayer, requestId: string, change: object): Call {
  const [path, body] = [`/requests/${requestId}`, JSON.stringify(change)];
  const signed = relayer.signHeaders({ method: 'PATCH', path, body });
  return { method: 'PATCH', path, headers: { 'content-type': 'application/json', ...signed }, body };
}

/** Recovers public keys from distinct signatures by the native library alone, one after another. @returns recoveries a second */
function recoverRaw(count: number): number {
  const { sign, recoverPublicKey } = loadSecp256k1('native');
  const privateKey = randomBytes(32);
  const signed = Array.from({ length: count }, () => {
    const digest = randomBytes(32);
    return { digest, ...sign(digest, privateKey) };
  });
  const startedAt = performance.now();
  for (const { digest, signature, recovery } of signed) recoverPublicKey(digest, signature, recovery);
  return (count / (performance.now() - startedAt)) * 1000;
}

/** Measures claims, signature checked and durable, against the native library's raw recoveries on one core. */
export async function measureClaim(context: BenchContext): Promise<ResultRow[]> {
  const { options, scale, relayers } = context;
  const gateway = await startGateway(context);
  const meter = createMeter('gateway', gateway);
  const figures = await alternate(options.runs, {
    baseline: async () => recoverRaw(scale.recoveries),
    async measure() {
      const requestIds = await createRequests(gateway.port, scale.claims);
      // `i % length` is an index of a list that is not empty.
      const relayerOf = (i: number) => relayers[i % relayers.length]!;
      const calls = requestIds.map((id, i) => updateCall(relayerOf(i), id, { status: 'processing' }));
      const load = { connections: options.connections, rounds: calls.length, steps: [replay(calls)] };
      return (await meter.run(load)).perSecond;
    },
  });
  return [
    {
      title: 'PATCH claim, signature checked',
      unit: 'claims/s',
      values: figures.measure,
      baseline: { title: 'raw recoveries on one core', values: figures.baseline },
      target: { of: 'ratio', is: 'at least', bound: 0.4 },
      notes: [meter.describe()],
    },
  ];
}
