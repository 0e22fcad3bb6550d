import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forwarderAbi } from '@prism-gateway/contracts';
import { createRecoverSigner } from '@prism-gateway/node/accounts';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { encodeErrorResult, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeContext, makePolicy } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { createFeedQueue } from '../gateway/createFeedQueue.ts';
import type { QueueCalls } from '../gateway/requestGateway.ts';
import { openJournal } from '../journal/openJournal.ts';
import { createSettingsDigest } from '../settings/digestSettings.ts';
import { createClockLook } from './createClockLook.ts';
import { evaluateRequests } from './evaluateRequests.ts';

const [chainId, forwarder] = [31_337, `0x${'f0'.repeat(20)}`] as const;
const account = privateKeyToAccount(`0x${'22'.repeat(32)}`);
// In lower case, an address is hex still.
const SIGNER = account.address.toLowerCase() as Hex;
/** Pays for some gas at the default rate, and for all that a write needs at a thousandth of it. */
const FEE = 1_500_000_000_000n;

/** The state of the request, which was signed for forwarder nonce 2; `spent`: that is used, and gas is dearer than its fee. */
type Outlook = 'ahead' | 'reverts' | 'forged' | 'poor' | 'ready' | 'spent';

/** The signer's next forwarder nonce; 2 unless it stands here. */
const NEXT_NONCE: Partial<Record<Outlook, bigint>> = { ahead: 1n, spent: 3n };

/** A write of the signer's. @param key - that has signed it */
async function write(requestId: string, nonce: bigint, key = account): Promise<RequestRecord> {
  const action = 'WRITE_DATA_FOR';
  const params = { cloudId: '0xc1', dataId: '0x0d', payload: '0xab', relayerFee: String(FEE), timestamp: '1' };
  const signature = await key.signTypedData(createTypedData({ action, params, nonce, chainId, forwarder }));
  return {
    ...{ requestId, chainName: 'c', action, signer: SIGNER, status: 'pending', createdAt: '', updatedAt: '' },
    params: createSignedParams({ action, params, signer: account.address, signature }),
  } as RequestRecord;
}

const INVALID_SIGNATURE = encodeErrorResult({
  abi: forwarderAbi,
  errorName: 'InvalidSignature',
  args: [account.address, 2n],
});

let record: RequestRecord;
/** Goes before it. */
let earlier: RequestRecord;
/** Another key has signed it. */
let foreign: RequestRecord;
beforeAll(async () => {
  const other = privateKeyToAccount(`0x${'33'.repeat(32)}`);
  [record, earlier, foreign] = await Promise.all([write('r', 2n), write('earlier', 1n), write('f', 2n, other)]);
});

let dir: string;
let nowMs = 0;
/** How far the clock is ahead of the time, in milliseconds. */
let aheadMs = 0;
/** Lives so far: each has a journal of its own. */
let lives = 0;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'recheck-'));
  nowMs = 0;
});
afterEach(() => rmSync(dir, { recursive: true }));

/** A relayer with default settings, whose gateway holds the one request. */
function start(
  outlook: (nowMs: number) => Outlook,
  items: readonly RequestRecord[],
  given: Record<string, string> = {},
) {
  const policy = makePolicy(given);
  const digestSettings = createSettingsDigest({ policy, chain: policy });
  const journal = openJournal({ path: join(dir, `${lives}.db`), nowMs: nowMs + aheadMs, digestSettings });
  // It is evaluated without waiting for others.
  journal.addPaid([SIGNER], 10n ** 9n);
  const stop = new AbortController();
  const looks: string[] = [];
  const context = makeContext({
    chain: {
      ...{ chainId, forwarder, recoverSigner: createRecoverSigner() },
      reader: {
        async nonces(signers) {
          looks.push(`${outlook(nowMs)} ${nowMs / 1000}`);
          return new Map(signers.map((signer) => [signer, NEXT_NONCE[outlook(nowMs)] ?? 2n]));
        },
        async simulate() {
          if (outlook(nowMs) === 'reverts') return { reverted: '0x' };
          if (outlook(nowMs) === 'forged') return { reverted: INVALID_SIGNATURE };
          return { gas: outlook(nowMs) === 'poor' ? 100_000n : 100n, returned: '0x' };
        },
        extraCost: async () => ({ wei: 0n, gas: 0n }),
        code: async () => '0x',
      },
      state: {
        head: async () => ({ ...HEAD, gasPrice: outlook(nowMs) === 'spent' ? 10n ** 30n : 10n }),
        policy: async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 86_400n, shareBps: 10_000n }),
        seconds: async () => 101n,
        finalitySeconds: async () => 1n,
      },
    },
    gateway: { read: async (id) => (id === 'f' ? foreign : record), newestOf: async () => [earlier, record] },
    ...{ journal, policy, random: () => 0.5, signal: stop.signal },
    ...{ now: () => nowMs + aheadMs, monotonicNow: () => nowMs },
  });
  const { candidates } = context.gateway;
  const lookAtClock = createClockLook(context);
  const ended = new Promise<never>((_, reject) =>
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason)),
  );
  const feed: QueueCalls['feed'] = async ({ wait }) => (wait > 0 ? await ended : { items: [], cursor: 'now' });
  const queue = createFeedQueue(
    // Nothing else of the calls is asked.
    { ...context, candidates, calls: { feed } as QueueCalls, gatewayReturns: new Set(), gasPrice: async () => 10n },
    { items, cursor: 'now' },
  );
  return {
    looks,
    /** Lives until a time, a round each half second. @returns how the request stands then */
    async liveUntil(endMs: number): Promise<string | undefined> {
      for (; nowMs < endMs; nowMs += 500) {
        lookAtClock();
        await evaluateRequests(context, await queue.look());
      }
      return candidates.list()[0]?.verdict?.kind;
    },
    stop() {
      stop.abort();
      journal.close();
    },
  };
}

/** Lives with restarts at some times. @returns when the chain was asked, and how it stands at the end */
async function live(
  outlook: (nowMs: number) => Outlook,
  { endMs, restarts, request = record }: { endMs: number; restarts: number[]; request?: RequestRecord },
) {
  lives += 1;
  nowMs = 0;
  const looks: string[] = [];
  let items = [request];
  for (const untilMs of [...restarts, endMs]) {
    const relayer = start(outlook, items);
    const end = await relayer.liveUntil(untilMs);
    looks.push(...relayer.looks);
    relayer.stop();
    items = [];
    if (untilMs === endMs) return { looks, end };
  }
  return expect.unreachable();
}

// Shows RELAY-28.
test('a request is looked at again at the same times with and without restarts, and once its turn has come', async () => {
  const outlook = (atMs: number): Outlook => (atMs < 300_000 ? 'ahead' : 'ready');
  const calm = await live(outlook, { endMs: 400_000, restarts: [] });
  expect(calm.looks.filter((look) => look.startsWith('ready')).length).toBeGreaterThan(0);
  const firstReady = (looks: readonly string[]) =>
    looks.slice(0, looks.findIndex((look) => look.startsWith('ready')) + 1);
  const troubled = await live(outlook, { endMs: 400_000, restarts: [40_000, 130_000, 299_500] });
  expect(firstReady(troubled.looks)).toEqual(firstReady(calm.looks));
});

// Shows RELAY-3, RELAY-28.
test('what reverts is given up after the default patience, forgotten or not, and whatever restarts there are', async () => {
  const calm = await live(() => 'reverts', { endMs: 121_000, restarts: [] });
  expect([calm.looks.at(-1), calm.end]).toEqual(['reverts 120', 'hopeless']);
  const troubled = await live(() => 'reverts', { endMs: 121_000, restarts: [30_000, 100_000] });
  expect(troubled).toEqual(calm);
  // If it is not claimed at once, as for others of its signer, its patience does not begin anew.
  for (const [endMs, ...restarts] of [[150_000], [250_000], [151_000, 150_000]] as const)
    expect((await live(() => 'reverts', { endMs, restarts })).end).toBe('hopeless');
});

// Shows RELAY-3.
test('what another key has signed is looked at twice, and given up at the same time', async () => {
  for (const restarts of [[], [30_000, 100_000]]) {
    const { looks, end } = await live(() => 'forged', { endMs: 121_000, restarts, request: foreign });
    expect([looks, end]).toEqual([['forged 0', 'forged 120'], 'hopeless']);
  }
  // A node that is behind says the same of what is in its turn, which is looked at soon.
  expect((await live(() => 'forged', { endMs: 121_000, restarts: [] })).looks.length).toBeGreaterThan(4);
});

// Shows RELAY-25.
test('what waits is looked at, and given up, at the same times whatever the clock is set to meanwhile', async () => {
  const calm = await live(() => 'reverts', { endMs: 121_000, restarts: [] });
  lives += 1;
  nowMs = 0;
  aheadMs = 7_200_000;
  const set = start(() => 'reverts', [record]);
  for (const [untilMs, nextMs] of [
    [20_000, -3_600_000],
    [60_000, 0],
    [119_000, 86_400_000],
  ] as const) {
    await set.liveUntil(untilMs);
    aheadMs = nextMs;
  }
  const end = await set.liveUntil(121_000);
  set.stop();
  aheadMs = 0;
  expect({ looks: set.looks, end }).toEqual(calm);
});

test('what was left by a clock that has been set back since is looked at after a restart', async () => {
  lives += 1;
  aheadMs = 7_200_000;
  const before = start(() => 'reverts', [record]);
  await before.liveUntil(20_000);
  before.stop();
  aheadMs = 0;
  const after = start(() => 'reverts', []);
  await after.liveUntil(21_000);
  after.stop();
  expect(after.looks.length).toBeGreaterThan(0);
});

// Shows RELAY-28.
test('what was left for a setting is looked at once the relayer starts with another one, and not before', async () => {
  const wrong = start(() => 'poor', [record]);
  await wrong.liveUntil(5000);
  wrong.stop();
  const same = start(() => 'poor', []);
  await same.liveUntil(10_000);
  same.stop();
  expect(same.looks).toEqual([]);
  const corrected = start(() => 'poor', [], { CREDITS_PER_ETH: '3000' });
  expect(await corrected.liveUntil(11_000)).toBe('ready');
  expect(corrected.looks[0]).toBe('poor 10');
  corrected.stop();
});

// Shows RELAY-4.
test('what a customer posts again that the chain has carried out is not left until gas is cheaper', async () => {
  expect((await live(() => 'spent', { endMs: 1000, restarts: [] })).end).toBe('hopeless');
});
