import type { BenchContext } from '../benchContext.ts';
import { type Call, replay } from '../load/runLoad.ts';
import { startBareServer } from '../processes/startBareServer.ts';
import { startGateway } from '../processes/startGateway.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { alternate } from './alternate.ts';
import { createMeter } from './createMeter.ts';
import { createCall } from './createRequests.ts';

/** Measures `POST /requests`, durable, against a bare handler that parses the same bodies and answers 201. */
export async function measurePost(context: BenchContext): Promise<ResultRow[]> {
  const { options, scale, stack } = context;
  const onGateway = createMeter('gateway', await startGateway(context));
  const onBare = createMeter('bare', await startBareServer(stack, '{}'));
  let calls: readonly Call[] = [];
  const load = () => ({ connections: options.connections, rounds: scale.creates, steps: [replay(calls)] });
  const figures = await alternate(options.runs, {
    async baseline() {
      // Each round has bodies of its own; baseline and measure get the same ones.
      calls = Array.from({ length: scale.creates }, createCall);
      return (await onBare.run(load())).perSecond;
    },
    measure: async () => (await onGateway.run(load())).perSecond,
  });
  return [
    {
      title: 'POST /requests, durable',
      unit: 'requests/s',
      values: figures.measure,
      baseline: { title: 'bare handler that parses the JSON, 201', values: figures.baseline },
      target: { of: 'ratio', is: 'at least', bound: 0.5 },
      notes: [onBare.describe(), onGateway.describe()],
    },
  ];
}
