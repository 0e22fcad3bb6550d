import { describe, expect, test } from 'vitest';
import type { RequestStore } from '../../../src/ports/requestStore.ts';
import { ALL, anyAddress, claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
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
        claimAll: store.claimAll([claimOf(record)], ALL),
        claimOldest: store.claimOldest({ ...claimOf(record), chainName: record.chainName, limit: 1, ...ALL }),
        report: store.report(reportOf(record, { relayer: anyAddress() })),
        reportAll: store.reportAll([reportOf(record, { relayer: anyAddress() })], ALL),
        release: store.release({ requestId: record.requestId, relayer: anyAddress(), releaseId: 'x', now: START }),
        releaseAll: store.releaseAll({ relayer: anyAddress(), now: START, limit: 10 }),
        feed: store.feed({ chainName: record.chainName, from: 'oldest', limit: 10, now: START, ...ALL }),
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
