import { sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { RequestStore } from '../../src/ports/requestStore.ts';
import { reuseStore } from './requestModel/reuseStore.ts';
import { runSteps } from './requestModel/runSteps.ts';
import { stepsArbitrary } from './requestModel/stepsArbitrary.ts';
import type { CreateStore } from './storeUnderTest.ts';

/** After so long no further run is begun, in milliseconds: a failure is shown before the test's own bound, however far it was shortened. */
const MOST_MS = sized({ small: 120_000, long: 1_800_000 });

const limitsArbitrary = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });

/**
 * The queue's port against a model of it: any run of creations, claims, reports and reads, several at a time by two processes,
 * with leases that expire. Whatever the order in which parallel calls took place, there must be one that explains all answers.
 * A failure prints its seed and the shortest run that fails.
 *
 * @param name - of the driver
 * @param options.createStore - makes an empty store
 * @param options.runs - how many
 * @see ../../src/ports/requestStore.ts
 */
export function requestStoreProperty(
  name: string,
  { createStore, runs }: { readonly createStore: CreateStore<RequestStore>; readonly runs: number },
): void {
  describe(`${name} does as the model of the queue does`, () => {
    test(`in ${runs} runs of parallel calls by two processes`, async () => {
      let calls = 0;
      let steps = 0;
      const reused = reuseStore(createStore);
      const property = fc.asyncProperty(stepsArbitrary, limitsArbitrary, async (planned, limits) => {
        steps += planned.length;
        for (const step of planned) calls += step.calls.length;
        await reused.use((pair, earlier) => runSteps(pair, { steps: planned, limits, earlier }));
      });
      await fc.assert(property, { numRuns: runs, interruptAfterTimeLimit: MOST_MS }).finally(() => reused.dispose());
      console.info(`model: ${runs} runs on ${name}, ${steps} steps, ${calls} calls, every answer explained`);
    });
  });
}
