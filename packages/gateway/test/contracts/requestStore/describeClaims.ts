import { describe, expect, test } from 'vitest';
import type { RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { ALL, anyAddress, claimedRecord, claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
import type { CreateStore, StoreUnderTest } from '../storeUnderTest.ts';
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
        claimAll: store.claimAll([claimOf(record)]),
        report: store.report(reportOf(record, { relayer: anyAddress() })),
        reportAll: store.reportAll([reportOf(record, { relayer: anyAddress() })]),
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

const lapse = { now: START + 61_000, leaseExpiredAt: START + 1000 };

/** Contract of the bound on what one relayer holds, and of `releaseAll`. */
export function describeOpenClaims(use: () => StoreUnderTest<RequestStore>): void {
  async function created(count: number, fields: Partial<StoredRequest> = {}): Promise<StoredRequest[]> {
    const records = Array.from({ length: count }, (_, i) => pendingRequest({ createdAt: START + i, ...fields }));
    await Promise.all(records.map((record) => use().store.create(record)));
    return records;
  }

  /** A relayer that holds as many as it may. */
  async function fullRelayer(count: number): Promise<{ relayer: string; held: StoredRequest[] }> {
    const relayer = anyAddress();
    const held = await created(count);
    for (const record of held) await use().store.claim(claimOf(record, { relayer, maxOpenClaims: count }));
    return { relayer, held };
  }

  // Shows CLAIM-5.
  describe('a relayer that holds as many requests as it may', () => {
    test('is refused another one, in whatever letter case, until one of its own is reported on or released', async () => {
      const { store } = use();
      const { relayer, held } = await fullRelayer(2);
      const [next, last] = await created(2);
      const claim = (record: StoredRequest, by = relayer) =>
        store.claim(claimOf(record, { relayer: by, maxOpenClaims: 2 }));
      const otherCase = `0x${relayer.slice(2).toLowerCase()}`;
      expect(await claim(next!, otherCase)).toStrictEqual({ outcome: 'full', record: next });
      await store.report(reportOf(held[0]!, { relayer }));
      expect(await claim(next!)).toMatchObject({ outcome: 'moved' });
      expect(await claim(last!)).toMatchObject({ outcome: 'full' });
      await store.release({ requestId: held[1]!.requestId, relayer, releaseId: crypto.randomUUID(), now: START });
      expect(await claim(last!)).toMatchObject({ outcome: 'moved' });
    });

    test('learns what was not to be had as anyone does', async () => {
      const { store } = use();
      const { relayer } = await fullRelayer(1);
      const [others] = await created(1);
      await store.claim(claimOf(others!));
      const bound = { relayer, maxOpenClaims: 1 };
      expect(await store.claim(claimOf(others!, bound))).toMatchObject({ outcome: 'conflict' });
      expect(await store.claim(claimOf(pendingRequest(), bound))).toStrictEqual({ outcome: 'missing' });
    });

    test('keeps what it holds by renewals, and takes its own lapsed claims over', async () => {
      const { store } = use();
      const { relayer, held } = await fullRelayer(1);
      const renewal = claimOf(held[0]!, { relayer, maxOpenClaims: 1, now: START + 2000 });
      expect((await store.claimAll([renewal]))[0]).toMatchObject({ outcome: 'moved' });
      const late = { now: START + 99_000, leaseExpiredAt: START + 9000, ownLeaseExpiredAt: START + 8000 };
      const again = claimOf(held[0]!, { relayer, maxOpenClaims: 1, ...late });
      expect(await store.claim(again)).toMatchObject({ outcome: 'moved' });
    });

    test('is refused the lapsed claim of another, whose place is free once it has lost it', async () => {
      const { store } = use();
      const [one, two] = [await fullRelayer(1), await fullRelayer(1)];
      const take = claimOf(two.held[0]!, { relayer: one.relayer, maxOpenClaims: 1, ...lapse });
      expect(await store.claim(take)).toMatchObject({ outcome: 'full' });
      expect(await store.claim(claimOf(two.held[0]!, lapse))).toMatchObject({ outcome: 'moved' });
      const [next] = await created(1);
      const freed = claimOf(next!, { relayer: two.relayer, maxOpenClaims: 1 });
      expect(await store.claim(freed)).toMatchObject({ outcome: 'moved' });
    });

    test('gets of a batch what it has room for, and leaves the rest as it stands', async () => {
      const { store } = use();
      const { relayer } = await fullRelayer(1);
      const records = await created(3);
      const claims = records.map((record) => claimOf(record, { relayer, maxOpenClaims: 3 }));
      const answers = await store.claimAll(claims);
      expect(answers.map(({ outcome }) => outcome).sort()).toStrictEqual(['full', 'moved', 'moved']);
      expect(answers).toContainEqual({ outcome: 'full', status: 'pending' });
    });
  });

  describe('releaseAll', () => {
    test('gives back all that the relayer holds and nothing else, up to a limit', async () => {
      const { store, catchUp } = use();
      const [mine, others] = [await fullRelayer(5), await fullRelayer(1)];
      await store.report(reportOf(mine.held[0]!, { relayer: mine.relayer }));
      await catchUp?.();
      const release = { relayer: `0x${mine.relayer.slice(2).toLowerCase()}`, now: START + 9000 };
      expect(await store.releaseAll({ ...release, limit: 3 })).toBe(3);
      await catchUp?.();
      expect(await store.releaseAll({ ...release, limit: 3 })).toBe(1);
      for (const record of mine.held.slice(1)) {
        expect(await store.get(record.requestId)).toStrictEqual({ ...record, updatedAt: START + 9000 });
      }
      expect(await store.get(mine.held[0]!.requestId)).toMatchObject({ status: 'success' });
      expect(await store.get(others.held[0]!.requestId)).toMatchObject({ status: 'processing' });
    });
  });
}

/** Rivals for one request. */
const RIVALS = 50;

/** Contract of `claim` without leases. */
export function describeClaims(use: () => StoreUnderTest<RequestStore>): void {
  async function created(): Promise<ReturnType<typeof pendingRequest>> {
    const record = pendingRequest();
    await use().store.create(record);
    return record;
  }

  describe('claim', () => {
    test('a pending request moves to processing and names its owner', async () => {
      const { store } = use();
      const record = await created();
      const claim = claimOf(record);
      const moved = claimedRecord(record, claim);
      expect(await store.claim(claim)).toStrictEqual({ outcome: 'moved', record: moved });
      expect(await store.get(record.requestId)).toStrictEqual(moved);
    });

    test('an unknown id is missing', async () => {
      expect(await use().store.claim(claimOf(pendingRequest()))).toStrictEqual({ outcome: 'missing' });
    });

    test('a second claim conflicts, shows the record as it stands, and changes nothing', async () => {
      const { store } = use();
      const record = await created();
      const first = claimOf(record);
      await store.claim(first);
      const standing = claimedRecord(record, first);
      const second = await store.claim(claimOf(record, { now: START + 5000 }));
      expect(second).toStrictEqual({ outcome: 'conflict', record: standing });
      expect(await store.get(record.requestId)).toStrictEqual(standing);
    });

    test('the owner itself cannot claim again by another call', async () => {
      const { store } = use();
      const record = await created();
      const first = claimOf(record);
      await store.claim(first);
      const again = await store.claim(claimOf(record, { relayer: first.relayer }));
      expect(again).toStrictEqual({ outcome: 'conflict', record: claimedRecord(record, first) });
    });

    test('a repetition of the winning call is answered as the first time', async () => {
      const { store } = use();
      const record = await created();
      const claim = claimOf(record);
      const first = await store.claim(claim);
      await store.claim(claimOf(record));
      expect(await store.claim(claim)).toStrictEqual(first);
      expect(await store.get(record.requestId)).toStrictEqual(claimedRecord(record, claim));
    });

    test('a repetition by a clock that went on changes no time', async () => {
      const { store } = use();
      const record = await created();
      const claim = claimOf(record);
      const first = await store.claim(claim);
      expect(await store.claim({ ...claim, now: claim.now + 1234 })).toStrictEqual(first);
    });

    test('a call that raced itself wins twice with the same answer', async () => {
      const { store } = use();
      const record = await created();
      const [claim, rival] = [claimOf(record), claimOf(record)];
      const answers = await Promise.all([store.claim(claim), store.claim(claim), store.claim(rival)]);
      // Either may come first; whoever does, both tries of the one call get the same.
      const winner = answers[2]?.outcome === 'moved' ? rival : claim;
      const standing = claimedRecord(record, winner);
      const reported = (by: typeof claim) => ({ outcome: by === winner ? 'moved' : 'conflict', record: standing });
      expect(answers).toStrictEqual([reported(claim), reported(claim), reported(rival)]);
    });

    test(`of ${RIVALS} rivals in two processes one wins, and the others see its claim`, async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      const record = await created();
      const claims = Array.from({ length: RIVALS }, (_, i) => claimOf(record, { now: START + 1000 + i }));
      const answers = await Promise.all(claims.map((claim, i) => (i % 2 === 0 ? store : peer).claim(claim)));
      const winners = claims.filter((_, i) => answers[i]?.outcome === 'moved');
      expect(winners).toHaveLength(1);
      const [winner = claimOf(record)] = winners;
      const standing = claimedRecord(record, winner);
      for (const answer of answers) expect('record' in answer && answer.record).toStrictEqual(standing);
      expect(answers.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(RIVALS - 1);
      expect(await store.get(record.requestId)).toStrictEqual(standing);
    });

    test('many requests claimed at once each have their own winner', async () => {
      const { store } = use();
      const records = await Promise.all(Array.from({ length: 40 }, created));
      const wins = await Promise.all(
        records.map(async (record) => {
          const answers = await Promise.all(Array.from({ length: 5 }, () => store.claim(claimOf(record))));
          return answers.filter(({ outcome }) => outcome === 'moved').length;
        }),
      );
      expect(wins).toStrictEqual(records.map(() => 1));
    });
  });
}
