import { afterAll, beforeAll } from 'vitest';
import type { CreateStore, StoreUnderTest } from './storeUnderTest.ts';

/** Makes one store for all tests of a suite; call it inside `describe`. Tests tell their records apart by chain and signer. */
export function useStore<S>(createStore: CreateStore<S>): () => StoreUnderTest<S> {
  let made: StoreUnderTest<S> | undefined;
  beforeAll(async () => {
    made = await createStore();
  });
  afterAll(() => made?.dispose());
  return () => {
    if (made === undefined) throw new Error('the store is there from the first test on');
    return made;
  };
}
