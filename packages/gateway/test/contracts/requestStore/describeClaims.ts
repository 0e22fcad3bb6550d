import { describe, expect, test } from 'vitest';
import type { RequestStore } from '../../../src/ports/requestStore.ts';
import { claimedRecord, claimOf, pendingRequest, START } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';

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
      // Either may come first; whoever does, both tries of the one call are told the same.
      const winner = answers[2]?.outcome === 'moved' ? rival : claim;
      const standing = claimedRecord(record, winner);
      const told = (by: typeof claim) => ({ outcome: by === winner ? 'moved' : 'conflict', record: standing });
      expect(answers).toStrictEqual([told(claim), told(claim), told(rival)]);
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
