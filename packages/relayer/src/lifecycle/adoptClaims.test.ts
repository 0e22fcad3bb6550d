import type { RequestRecord } from '@prism-gateway/protocol';
import { createRelayerClient } from '@prism-gateway/sdk';
import { startBlackHole } from '@prism-gateway/testing';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { type GivenContext, makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { createQueueCalls, createRequestGateway } from '../gateway/createRequestGateway.ts';
import { openJournal } from '../journal/openJournal.ts';
import { adoptClaims } from './adoptClaims.ts';

const account = privateKeyToAccount(generatePrivateKey());
const WORD = `0x${'11'.repeat(32)}`;

/** A relayer on a chain on which nothing has happened yet. */
function makeRelayer(gateway: NonNullable<GivenContext['gateway']>, signal: AbortSignal) {
  return makeContext({
    // In lower case, an address is hex still.
    chain: {
      relayer: account.address.toLowerCase() as Hex,
      reader: { nonces: async (signers) => new Map(signers.map((signer) => [signer, 0n])) },
    },
    ...{ gateway, signal },
    advance: (ids) => expect(ids).toEqual([]),
  });
}

/** The claim of this relayer's that its journal does not know. */
const own = {
  ...{ requestId: 'r', chainName: 'a', action: 'WRITE_DATA_FOR', signer: account.address, createdAt: '' },
  ...{ status: 'processing', claimedBy: account.address, claimedAt: '2026-01-01T00:00:00.000Z' },
  params: {
    ...{ signer: account.address, cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '1' },
    ...{ v: 27, r: WORD, s: WORD },
  },
} as RequestRecord;

async function* listOwn() {
  yield [own];
}

/** A journal whose disk is full until it is mended. */
function openFullJournal() {
  const journal = openJournal({ path: ':memory:', nowMs: 0 });
  const disk = { isFull: true };
  const whenRoom =
    <T extends readonly unknown[]>(write: (...args: T) => void) =>
    (...args: T) => {
      if (disk.isFull) throw new Error('database or disk is full');
      write(...args);
    };
  const { adopt, begin, move } = journal;
  return { disk, journal: { ...journal, adopt: whenRoom(adopt), begin: whenRoom(begin), move: whenRoom(move) } };
}

// Shows RELAY-9.
test('a claim that a full disk kept from being taken up is taken up once there is room', async () => {
  const { disk, journal } = openFullJournal();
  const [advanced, faults]: [string[], unknown[]] = [[], []];
  const relayer = makeContext({
    chain: {
      relayer: account.address.toLowerCase() as Hex,
      reader: { nonces: async (signers) => new Map(signers.map((signer) => [signer, 0n])) },
      recoverSigner: async () => undefined,
      isKeyShared: () => false,
    },
    gateway: { processing: listOwn, read: async () => own },
    journal,
    advance: (ids) => advanced.push(...ids),
    onFault: (error) => faults.push(error),
  });
  for (let round = 0; round < 2; round++) {
    await adoptClaims(relayer);
    await relayer.inFlight.idle();
    expect([relayer.inFlight.size, advanced.length]).toEqual([round, round]);
    disk.isFull = false;
  }
  expect(faults).toHaveLength(1);
});

test('a claim of this relayer’s that was reported since the list was read is not taken up again', async () => {
  const gateway = { processing: listOwn, read: async (): Promise<RequestRecord> => ({ ...own, status: 'success' }) };
  const relayer = makeRelayer(gateway, new AbortController().signal);
  await adoptClaims(relayer);
  await relayer.inFlight.idle();
  expect(relayer.journal.open()).toEqual([]);
  expect(relayer.inFlight.size).toBe(0);
});

/** A relayer that sees a claim of another one's, made at time 0, which the gateway does not let go; `asked` is when it was asked for. */
function makeHeir(
  given: { readonly balance: bigint; readonly isStuck: boolean },
  { onAsked, ...more }: Pick<GivenContext, 'journal' | 'advance' | 'onFault'> & { readonly onAsked?: () => void } = {},
) {
  const clock = { nowMs: 0 };
  const other = privateKeyToAccount(generatePrivateKey()).address;
  const params = {
    signer: other,
    cloudId: WORD,
    dataId: WORD,
    payload: '0x',
    relayerFee: String(10n ** 24n),
    timestamp: '1',
  };
  const record = {
    ...{ requestId: 'r', chainName: 'c', action: 'WRITE_DATA_FOR', signer: other, createdAt: '', updatedAt: '' },
    ...{ status: 'processing', claimedBy: other, claimedAt: new Date(0).toISOString() },
    params: { ...params, v: 27, r: WORD, s: WORD },
  } as RequestRecord;
  const asked: number[] = [];
  const relayer = makeContext({
    chain: {
      reader: {
        nonces: async (signers) => new Map(signers.map((signer) => [signer, 0n])),
        simulate: async () => ({ gas: 100_000n, returned: '0x' }),
        extraCost: async () => ({ wei: 0n, gas: 0n }),
        code: async () => '0x',
      },
      state: {
        head: async () => HEAD,
        policy: async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1000n, shareBps: 10_000n }),
        seconds: async () => 101n,
        finalitySeconds: async () => 1n,
        balance: async () => given.balance,
      },
      recoverSigner: async () => other,
      sender: { isStuck: () => given.isStuck },
    },
    gateway: {
      async *processing() {
        yield [record];
      },
      async claim(requestIds) {
        asked.push(clock.nowMs);
        onAsked?.();
        return new Map(requestIds.map((requestId) => [requestId, 'conflict']));
      },
    },
    policy: { creditsPerEth: 10n ** 18n },
    now: () => clock.nowMs,
    ...more,
  });
  return { relayer, asked, clock, dueMs: (relayer.policy.leaseMs * 4) / 3 + 1 };
}

test('a claim of another relayer is taken over a third of a lease after its end, and asked for no sooner again once it is refused', async () => {
  const { relayer, asked, clock, dueMs } = makeHeir({ balance: 10n ** 18n, isStuck: false });
  for (clock.nowMs of [relayer.policy.leaseMs, dueMs - 1, dueMs, dueMs + 60_000, 2 * dueMs - 1, 2 * dueMs]) {
    await adoptClaims(relayer);
    await relayer.inFlight.idle();
  }
  expect(asked).toEqual([dueMs, 2 * dueMs]);
  expect(relayer.inFlight.size).toBe(0);
});

test('a full disk keeps no take-over for itself: it is not begun, and a refusal that cannot be written down is asked again', async () => {
  const { disk, journal } = openFullJournal();
  const [advanced, faults]: [string[], unknown[]] = [[], []];
  const more = {
    journal,
    advance: (ids: readonly string[]) => advanced.push(...ids),
    onFault: (error: unknown) => faults.push(error),
    onAsked() {
      disk.isFull = true;
    },
  };
  const { relayer, asked, clock, dueMs } = makeHeir({ balance: 10n ** 18n, isStuck: false }, more);
  clock.nowMs = dueMs;
  await expect(adoptClaims(relayer)).rejects.toThrow('full');
  expect([asked, relayer.inFlight.size]).toEqual([[], 0]);
  disk.isFull = false;
  await adoptClaims(relayer);
  await relayer.inFlight.idle();
  expect([asked, advanced, faults.length]).toEqual([[dueMs], ['r'], 1]);
});

test.each([
  ['has no ether', { balance: 0n, isStuck: false }],
  ['waits for cheaper gas', { balance: 10n ** 18n, isStuck: true }],
])('a relayer that %s takes nothing over', async (_, given) => {
  const { relayer, asked, clock, dueMs } = makeHeir(given);
  clock.nowMs = dueMs;
  await adoptClaims(relayer);
  expect([asked, relayer.inFlight.size]).toEqual([[], 0]);
});

test('it ends with the signal while the gateway hangs', async () => {
  await using hole = await startBlackHole();
  const abort = new AbortController();
  const { signal } = abort;
  const client = createRelayerClient({ url: hole.url, account });
  const calls = createQueueCalls({ client, chainName: 'a', signal });
  const { events } = makeContext({});
  const gateway = createRequestGateway({ client, calls, chainName: 'a', events, monotonicNow: () => 0, signal });
  const adopting = adoptClaims(makeRelayer(gateway, signal)).then(() => 'ended');
  await expect.poll(() => hole.connections()).toBeGreaterThan(0);
  abort.abort();
  expect(await adopting).toBe('ended');
});
