import type { BenchContext } from '../benchContext.ts';
import { replay } from '../load/runLoad.ts';
import { startBareServer } from '../processes/startBareServer.ts';
import { startGateway } from '../processes/startGateway.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { alternate } from './alternate.ts';
import { createMeter } from './createMeter.ts';
import { createRequests, readCall } from './createRequests.ts';

/** Records that are read in turn: enough that no answer can be kept ready by accident. */
const RECORDS = 10_000;

/** Measures `GET /requests/{requestId}` against a bare handler that answers one such record as a constant. */
export async function measureGet(context: BenchContext): Promise<ResultRow[]> {
  const { options, scale, stack } = context;
  const gateway = await startGateway(context);
  const requestIds = await createRequests(gateway.port, Math.min(RECORDS, scale.reads));
  const constant = await (await fetch(`${gateway.url}/requests/${requestIds[0]}`)).text();
  const bare = await startBareServer(stack, constant);
  const calls = requestIds.map(readCall);
  const load = () => ({ connections: options.connections, rounds: scale.reads, steps: [replay(calls)] });
  const [onBare, onGateway] = [createMeter('bare', bare), createMeter('gateway', gateway)];
  const figures = await alternate(options.runs, {
    baseline: async () => (await onBare.run(load())).perSecond,
    measure: async () => (await onGateway.run(load())).perSecond,
  });
  return [
    {
      title: 'GET /requests/{id}',
      unit: 'requests/s',
      values: figures.measure,
      baseline: { title: 'bare handler, constant of the same size', values: figures.baseline },
      target: { of: 'ratio', is: 'at least', bound: 0.65 },
      notes: [`answer of ${Buffer.byteLength(constant)} bytes`, onBare.describe(), onGateway.describe()],
    },
  ];
}
