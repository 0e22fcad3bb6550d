import type { RequestRecord } from '@prism-gateway/protocol';
import { createRelayerClient } from '@prism-gateway/sdk';
import { startBlackHole } from '@prism-gateway/testing';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { type GivenContext, makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { createQueueCalls, createRequestGateway } from '../gateway/createRequestGateway.ts';
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

test('a claim of this relayer’s that was reported since the list was read is not taken up again', async () => {
  const record = {
    ...{ requestId: 'r', chainName: 'a', action: 'WRITE_DATA_FOR', signer: account.address, createdAt: '' },
    ...{ status: 'processing', claimedBy: account.address, claimedAt: '2026-01-01T00:00:00.000Z' },
    params: {
      ...{ signer: account.address, cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '1' },
      ...{ v: 27, r: WORD, s: WORD },
    },
  } as RequestRecord;
  const gateway = {
    async *processing() {
      yield [record];
    },
    read: async (): Promise<RequestRecord> => ({ ...record, status: 'success' }),
  };
  const relayer = makeRelayer(gateway, new AbortController().signal);
  await adoptClaims(relayer);
  await relayer.inFlight.idle();
  expect(relayer.journal.open()).toEqual([]);
  expect(relayer.inFlight.size).toBe(0);
});

test('a claim of another relayer is taken over a third of a lease after its end, and asked for no sooner again once it is refused', async () => {
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
  let nowMs = 0;
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
        settleSeconds: async () => 1n,
      },
      recoverSigner: async () => other,
    },
    gateway: {
      async *processing() {
        yield [record];
      },
      async claim(requestIds) {
        asked.push(nowMs);
        return new Map(requestIds.map((requestId) => [requestId, 'conflict']));
      },
    },
    policy: { creditsPerEth: 10n ** 18n },
    now: () => nowMs,
  });
  const { leaseMs } = relayer.policy;
  const first = (leaseMs * 4) / 3 + 1;
  for (nowMs of [leaseMs, first - 1, first, first + 60_000, 2 * first - 1, 2 * first]) {
    await adoptClaims(relayer);
    await relayer.inFlight.idle();
  }
  expect(asked).toEqual([first, 2 * first]);
  expect(relayer.inFlight.size).toBe(0);
});

test('it ends with the signal while the gateway hangs', async () => {
  await using hole = await startBlackHole();
  const abort = new AbortController();
  const { signal } = abort;
  const client = createRelayerClient({ url: hole.url, account });
  const calls = createQueueCalls({ client, chainName: 'a', signal });
  const { events } = makeContext({});
  const gateway = createRequestGateway({ client, calls, chainName: 'a', events, now: () => 0, signal });
  const adopting = adoptClaims(makeRelayer(gateway, signal)).then(() => 'ended');
  await expect.poll(() => hole.connections()).toBeGreaterThan(0);
  abort.abort();
  expect(await adopting).toBe('ended');
});
