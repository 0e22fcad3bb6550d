import { mock } from 'node:test';
import { setImmediate as settle } from 'node:timers/promises';
import type { RequestRecord } from '@prism-gateway/protocol';
import { GatewayError } from '@prism-gateway/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { ChainError } from '../chain/chainError.ts';
import { createFeedQueue } from './createFeedQueue.ts';
import type { QueueCalls } from './requestGateway.ts';

const write = (requestId: string, status = 'pending') =>
  ({
    ...{ requestId, status, chainName: 'c', action: 'WRITE_DATA_FOR', signer: `0x${'aa'.repeat(20)}` },
    ...{ params: {}, createdAt: '', updatedAt: '' },
  }) as unknown as RequestRecord;

const rest = { gatewayReturns: new Set<() => void>(), gasPrice: async () => 1n };

test('all that is about to be claimed is read again where it was seen a while ago, however many', async () => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const clock = { nowMs: 1000 };
  const read: string[] = [];
  const ended = new Promise<never>((_resolve, reject) =>
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason)),
  );
  const records = Array.from({ length: 40 }, (_, i) => write(`r${i}`));
  const gateway = {
    async read(requestId: string) {
      read.push(requestId);
      // A rival has each second one.
      return write(requestId, Number(requestId.slice(1)) % 2 === 0 ? 'pending' : 'processing');
    },
  };
  const context = makeContext({ gateway, now: () => clock.nowMs, random: () => 0.5, signal: stop.signal });
  const { candidates } = context.gateway;
  const feed: QueueCalls['feed'] = async ({ wait }) => (wait === 0 ? { items: [], cursor: 'old' } : await ended);
  // Nothing else of the calls is asked.
  const calls = { feed } as Partial<QueueCalls> as QueueCalls;
  const queue = createFeedQueue({ ...context, candidates, calls, ...rest }, { items: records, cursor: 'now' });
  const seen = await queue.look();
  expect(seen).toHaveLength(40);
  expect(await queue.dropClaimed(seen)).toEqual(seen);
  expect(read, 'seen a moment ago').toEqual([]);
  const verdict = { kind: 'leave', reason: 'unclaimed' } as const;
  context.journal.recordVerdicts(seen.map(({ record }) => ({ record, verdict, sinceMs: 1, recheckAtMs: 2, nowMs: 1 })));
  clock.nowMs += 100;
  const pending = await queue.dropClaimed(seen);
  expect(read).toHaveLength(40);
  expect(pending.map(({ record }) => record.requestId)).toEqual(
    records.map(({ requestId }) => requestId).filter((_, i) => i % 2 === 0),
  );
  expect(candidates.size).toBe(20);
  await queue.look();
  expect(read, 'what is gone is not looked at again').toHaveLength(40);
});

test('what cannot be looked at again now holds up nothing that the feed shows, nor the others', async () => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const waits = new Promise<never>(() => {});
  const pages = [[write('old')], []].map((items, i) => ({ items, cursor: `walk ${i}` }));
  const feed: QueueCalls['feed'] = async ({ wait }) => (wait === 0 ? (pages.shift() ?? waits) : await waits);
  const gateway = {
    async read(requestId: string) {
      if (requestId === 'unreadable') throw new GatewayError({ kind: 'UNEXPECTED_ANSWER', message: 'is no record' });
      return write(requestId);
    },
  };
  const context = makeContext({ gateway, now: () => 9, signal: stop.signal });
  const { candidates } = context.gateway;
  const verdict = { kind: 'leave', reason: 'fee', paysAtWei: 5n } as const;
  for (const requestId of ['unreadable', 'due'])
    context.journal.recordVerdicts([
      { record: write(requestId), verdict, sinceMs: 1, recheckAtMs: requestId === 'due' ? 3 : 2, nowMs: 1 },
    ]);
  const gasPrice = async () => {
    throw new ChainError('RPC_UNAVAILABLE', 'The node is silent.');
  };
  // Nothing else of the calls is asked.
  const calls = { feed } as Partial<QueueCalls> as QueueCalls;
  const queue = createFeedQueue({ ...context, candidates, calls, ...rest, gasPrice }, { items: [], cursor: 'now' });
  const seen = await queue.look();
  expect(seen.map(({ record }) => record.requestId)).toEqual(['due', 'old']);
});

test('what could not be evaluated stays in memory until the journal takes it', async () => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const clock = { nowMs: 1000 };
  const context = makeContext({
    gateway: { read: async () => undefined },
    now: () => clock.nowMs,
    signal: stop.signal,
  });
  const { candidates } = context.gateway;
  const waits = new Promise<never>(() => {});
  const journal: typeof context.journal = {
    ...context.journal,
    recordVerdicts() {
      throw new Error('The disk is full.');
    },
  };
  // Nothing else of the calls is asked.
  const calls = { feed: () => waits } as Partial<QueueCalls> as QueueCalls;
  const queue = createFeedQueue(
    { ...context, candidates, journal, calls, ...rest },
    { items: [write('new')], cursor: 'now' },
  );
  await queue.look();
  clock.nowMs += 130_000;
  await expect(queue.look()).rejects.toThrow('The disk is full.');
  expect(candidates.list().map(({ record }) => record.requestId)).toEqual(['new']);
});

// Shows RELAY-17.
test('a flood in memory keeps no known payer from being looked at again', async () => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const gateway = { read: async (requestId: string) => write(requestId) };
  const context = makeContext({ gateway, now: () => 10, signal: stop.signal });
  const { candidates } = context.gateway;
  const waits = new Promise<never>(() => {});
  // Nothing else of the calls is asked.
  const calls = { feed: () => waits } as Partial<QueueCalls> as QueueCalls;
  const verdict = { kind: 'leave', reason: 'reverts' } as const;
  context.journal.addPaid([write('').signer], 1n);
  const stranger = { ...write('of a stranger'), signer: `0x${'bb'.repeat(20)}` };
  for (const record of [stranger, write('of a customer')])
    context.journal.recordVerdicts([{ record, verdict, sinceMs: 1, recheckAtMs: 2, nowMs: 1 }]);
  const flood = Array.from({ length: 2001 }, (_, i) => write(`junk ${i}`));
  const queue = createFeedQueue({ ...context, candidates, calls, ...rest }, { items: flood, cursor: 'now' });
  await queue.look();
  await queue.look();
  const seen = candidates.list().map(({ record }) => record.requestId);
  expect(seen.filter((id) => !id.startsWith('junk'))).toEqual(['of a customer']);
});

test('a gateway that lets no call wait is asked each second while there is work, and never less than is seen within two', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  onTestFinished(() => mock.timers.reset());
  const stop = new AbortController();
  const askedAtMs: number[] = [];
  let nowMs = 0;
  /** The look that has found something. */
  let gave = -1;
  /** Lets time pass, and what it has begun come to its end. */
  async function pass(ms: number): Promise<void> {
    for (const until = nowMs + ms; nowMs < until; ) {
      nowMs += 100;
      mock.timers.tick(100);
      await settle();
    }
  }
  let posted: RequestRecord[] = [];
  const calls: Partial<QueueCalls> = {
    async feed() {
      askedAtMs.push(nowMs);
      const items = posted;
      if (items.length > 0) gave = askedAtMs.length - 1;
      posted = [];
      return { items, cursor: 'now', askAgainMs: items.length > 0 ? undefined : 1000 };
    },
  };
  const gateway = { read: async () => undefined };
  const context = makeContext({ gateway, now: () => nowMs, random: () => 0.5, signal: stop.signal });
  const { candidates } = context.gateway;
  // Nothing else of the calls is asked.
  createFeedQueue({ ...context, candidates, calls: calls as QueueCalls, ...rest }, { items: [], cursor: 'now' });
  await pass(3_600_000);
  const idle = askedAtMs.length;
  // 1.9 s each, and the call: 1.31 million looks a month, which docs/operations-aws.md puts a price on.
  expect(idle).toBeGreaterThan(1800);
  expect(idle).toBeLessThan(2010);
  const pauses = askedAtMs.slice(1).map((at, i) => at - (askedAtMs[i] ?? 0));
  expect(Math.max(...pauses)).toBeLessThanOrEqual(1900);
  posted = [write('r1')];
  await pass(2000);
  expect(posted, 'seen within two seconds').toEqual([]);
  await pass(2500);
  const pausesThen = askedAtMs.slice(gave, gave + 3).map((at, i) => (askedAtMs[gave + i + 1] ?? 0) - at);
  expect(pausesThen[0], 'more may be behind it').toBeLessThanOrEqual(100);
  expect(pausesThen[1]).toBeLessThanOrEqual(1100);
  stop.abort();
});
