import { sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { RequestStore, StoredRequest } from '../../src/ports/requestStore.ts';
import { runSteps, type StorePair } from './requestModel/runSteps.ts';
import { stepsArbitrary } from './requestModel/stepsArbitrary.ts';
import type { CreateStore, StoreUnderTest } from './storeUnderTest.ts';

/** Runs that share a store, which takes a while to open. */
const RUNS_PER_STORE = 20;

interface Opened {
  readonly made: StoreUnderTest<RequestStore>;
  readonly pair: StorePair;
  records: readonly StoredRequest[];
  runs: number;
}

/** Gives runs a store, one after the other. */
interface ReusedStore {
  /**
   * @param run - is given the store and what it holds, and returns what it holds then; after one that throws the next run gets a
   * new store, so that a failure does not go on into the runs that look for the shortest one
   */
  use(run: (pair: StorePair, earlier: readonly StoredRequest[]) => Promise<readonly StoredRequest[]>): Promise<void>;
  dispose(): Promise<void>;
}

/** Makes stores as they are needed. */
function reuseStore(createStore: CreateStore<RequestStore>): ReusedStore {
  let opened: Opened | undefined;

  async function open(): Promise<Opened> {
    const made = await createStore();
    const { store, catchUp } = made;
    const peer = (await made.openPeer?.()) ?? store;
    return { made, pair: { store, peer, ...(catchUp && { catchUp }) }, records: [], runs: 0 };
  }

  async function dispose(): Promise<void> {
    const disposing = opened;
    opened = undefined;
    await disposing?.made.dispose();
  }

  return {
    async use(run) {
      opened ??= await open();
      try {
        opened.records = await run(opened.pair, opened.records);
        opened.runs++;
      } catch (error) {
        await dispose();
        throw error;
      }
      if (opened.runs === RUNS_PER_STORE) await dispose();
    },
    dispose,
  };
}

/** How long runs are begun, in milliseconds: a failure is shown before the test's own bound, however far it was shortened. */
const MOST_MS = sized({ small: 120_000, long: 1_800_000 });

const limitsArbitrary = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });

/**
 * The queue's port against a model of it: any run of creations, claims, reports and reads, several at a time by two processes,
 * with leases that expire. Whatever the order in which parallel calls took place, there must be one that explains all answers.
 * A failure prints its seed and the shortest run that fails.
 *
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
