import type { RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import type { CreateStore, StoreUnderTest } from '../storeUnderTest.ts';
import type { StorePair } from './runSteps.ts';

/** A store takes a while to open: so many runs share one. */
const RUNS_PER_STORE = 20;

interface Opened {
  readonly made: StoreUnderTest<RequestStore>;
  readonly pair: StorePair;
  records: readonly StoredRequest[];
  runs: number;
}

/** Gives runs a store, one after the other. */
export interface ReusedStore {
  /**
   * @param run - is given the store and what it holds, and returns what it holds then; after one that throws the next run gets a
   * new store, so that a failure does not go on into the runs that look for the shortest one
   */
  use(run: (pair: StorePair, earlier: readonly StoredRequest[]) => Promise<readonly StoredRequest[]>): Promise<void>;
  dispose(): Promise<void>;
}

/** Makes stores as they are needed. */
export function reuseStore(createStore: CreateStore<RequestStore>): ReusedStore {
  let opened: Opened | undefined;

  async function open(): Promise<Opened> {
    const made = await createStore();
    const { store, settle } = made;
    const peer = (await made.openPeer?.()) ?? store;
    return { made, pair: { store, peer, ...(settle && { settle }) }, records: [], runs: 0 };
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
