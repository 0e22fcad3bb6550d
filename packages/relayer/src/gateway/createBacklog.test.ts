import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { createBacklog } from './createBacklog.ts';
import type { FeedPage, QueueCalls } from './requestGateway.ts';

const write = (requestId: string) =>
  ({
    ...{ requestId, status: 'pending', chainName: 'c', action: 'WRITE_DATA_FOR', signer: `0x${'aa'.repeat(20)}` },
    ...{ params: {}, createdAt: '', updatedAt: '' },
  }) as unknown as RequestRecord;

/** A backlog whose pages are answered by hand, in the order in which they were asked for. */
function createRig() {
  const context = makeContext({});
  const asked: { readonly cursor: string | undefined; answer(page: FeedPage): void }[] = [];
  const backlog = createBacklog({
    // Nothing else of it is asked.
    calls: {
      async feed({ cursor }) {
        const { promise, resolve } = Promise.withResolvers<FeedPage>();
        asked.push({ cursor, answer: resolve });
        return await promise;
      },
    } as QueueCalls,
    ...context,
  });
  return { backlog, asked, journal: context.journal };
}

const idsOf = (records: readonly RequestRecord[]) => records.map(({ requestId }) => requestId);

test('a walk reads its next page ahead, and ends where there is nothing behind', async () => {
  const { backlog, asked } = createRig();
  const first = backlog.take();
  asked[0]!.answer({ items: [write('a')], cursor: 'one' });
  expect(idsOf(await first)).toEqual(['a']);
  expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, 'one']);
  expect(backlog.mark('live')).toEqual(['one', 'live']);
  asked[1]!.answer({ items: [], cursor: 'two' });
  expect(await backlog.take()).toEqual([]);
  expect([backlog.hasMore(), backlog.mark('live')]).toEqual([false, ['live']]);
});

test('a gateway that comes back while the last page is read is walked through again', async () => {
  const { backlog, asked } = createRig();
  const last = backlog.take();
  backlog.walkAgain();
  asked[0]!.answer({ items: [], cursor: 'end' });
  expect(await last).toEqual([]);
  expect(backlog.hasMore()).toBe(true);
  const again = backlog.take();
  expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, undefined]);
  asked[1]!.answer({ items: [write('restored')], cursor: 'one' });
  expect(idsOf(await again)).toEqual(['restored']);
});

test('a walk that begins anew takes no page of the one before', async () => {
  const { backlog, asked } = createRig();
  const first = backlog.take();
  asked[0]!.answer({ items: [write('a')], cursor: 'one' });
  await first;
  backlog.restart();
  const anew = backlog.take();
  asked[1]!.answer({ items: [write('c')], cursor: 'two' });
  asked[2]!.answer({ items: [write('b')], cursor: 'one' });
  expect(idsOf(await anew)).toEqual(['b']);
  expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, 'one', undefined, 'one']);
});

// Shows RELAY-28.
test('a gateway that does not know the cursor any more has nothing evaluated that waits in the journal', async () => {
  const { backlog, asked, journal } = createRig();
  const verdict = { kind: 'leave', reason: 'reverts' } as const;
  journal.recordVerdicts([{ record: write('left'), verdict, sinceMs: 0, recheckAtMs: 30_000, nowMs: 0 }]);
  backlog.restart();
  const page = backlog.take();
  asked[0]!.answer({ items: [write('left'), write('new')], cursor: 'one' });
  expect(idsOf(await page)).toEqual(['new']);
});
