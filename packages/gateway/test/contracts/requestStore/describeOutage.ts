import { describe, expect, test } from 'vitest';
import type { RequestStore } from '../../../src/ports/requestStore.ts';
import { anyAddress, claimOf, pendingRequest, reportOf } from '../storedRequests.ts';
import type { CreateStore } from '../storeUnderTest.ts';
import { useStore } from '../useStore.ts';

/** Contract of every method when the store does not answer. */
export function describeOutage(createStore: CreateStore<RequestStore>): void {
  describe('a store that does not answer', () => {
    const use = useStore(createStore);

    test('says so by DependencyUnavailableError from every method', async () => {
      const { store, cutOff } = use();
      const record = pendingRequest();
      await store.create(record);
      await cutOff();
      const calls: Record<string, Promise<unknown>> = {
        create: store.create(pendingRequest()),
        get: Promise.resolve().then(() => store.get(record.requestId)),
        list: store.list({ filter: { signer: record.signer }, order: 'asc', limit: 20 }),
        claim: store.claim(claimOf(record)),
        report: store.report(reportOf(record, { relayer: anyAddress() })),
        stats: store.stats(),
      };
      const answers = await Promise.allSettled(Object.values(calls));
      const failures = answers.map((answer) => answer.status === 'rejected' && answer.reason);
      expect(Object.keys(calls).map((name, i) => [name, failures[i]])).toEqual(
        Object.keys(calls).map((name) => [
          name,
          expect.objectContaining({ code: 'DEPENDENCY_UNAVAILABLE', dependency: 'store' }),
        ]),
      );
    });
  });
}
