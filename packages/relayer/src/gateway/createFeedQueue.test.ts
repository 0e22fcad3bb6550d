import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { openJournal } from '../journal/openJournal.ts';
import { createCandidates } from '../lifecycle/createCandidates.ts';
import { createFeedQueue } from './createFeedQueue.ts';

const write = (requestId: string, status = 'pending') =>
  ({
    ...{ requestId, status, chainName: 'c', action: 'WRITE_DATA_FOR', signer: `0x${'aa'.repeat(20)}` },
    ...{ params: {}, createdAt: '', updatedAt: '' },
  }) as unknown as RequestRecord;

test('all that is about to be claimed is read again where it was seen a while ago, however many', async () => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const clock = { nowMs: 1000 };
  const read: string[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const candidates = createCandidates();
  const ended = new Promise<never>((_resolve, reject) =>
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason)),
  );
  const records = Array.from({ length: 40 }, (_, i) => write(`r${i}`));
  const queue = createFeedQueue(
    {
      calls: { feed: () => ended },
      gateway: {
        async read(requestId) {
          read.push(requestId);
          // A rival has each second one.
          return write(requestId, Number(requestId.slice(1)) % 2 === 0 ? 'pending' : 'processing');
        },
      },
      gatewayReturns: new Set(),
      journal: openJournal({ path: ':memory:', nowMs: 0 }),
      candidates,
      inFlight: { has: () => false },
      notes: { fault: () => undefined, log },
      gasPrice: async () => 1n,
      ...{ wake: () => undefined, now: () => clock.nowMs, random: () => 0.5, signal: stop.signal },
    },
    { items: records, cursor: 'now' },
  );
  const seen = await queue.look(100);
  expect(seen).toHaveLength(40);
  expect(await queue.dropClaimed(seen)).toEqual(seen);
  expect(read, 'seen a moment ago').toEqual([]);
  clock.nowMs += 100;
  const pending = await queue.dropClaimed(seen);
  expect(read).toHaveLength(40);
  expect(pending.map(({ record }) => record.requestId)).toEqual(
    records.map(({ requestId }) => requestId).filter((_, i) => i % 2 === 0),
  );
  // What is gone is not looked at again.
  expect(candidates.size).toBe(20);
});
