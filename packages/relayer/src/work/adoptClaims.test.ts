import type { RequestRecord } from '@prism-gateway/protocol';
import { createRelayerClient } from '@prism-gateway/sdk';
import { startBlackHole } from '@prism-gateway/testing';
import { pino } from 'pino';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { openJournal } from '../journal/openJournal.ts';
import type { Relay } from '../relay.ts';
import { adoptClaims } from './adoptClaims.ts';
import { createDesk } from './desk.ts';

const account = privateKeyToAccount(generatePrivateKey());
const WORD = `0x${'11'.repeat(32)}`;

/** A relayer on a chain on which nothing has happened yet; only what an adoption needs is there. */
function createRelay(gateway: unknown, signal: AbortSignal): Relay {
  return {
    gateway,
    signal,
    settings: { chainName: 'a', maxInFlight: 10 },
    policy: { takeOverMs: 0 },
    chain: {
      relayer: account.address.toLowerCase(),
      forwarder: `0x${'22'.repeat(20)}`,
      nonces: async (all: string[]) => new Map(all.map((s) => [s, 0n])),
    },
    chainId: 1,
    recoverSigner: async () => undefined,
    journal: openJournal({ path: ':memory:', nowMs: 0 }),
    desk: createDesk(() => undefined),
    logger: pino({ level: 'silent' }),
    now: () => 0,
    random: () => 0,
  } as unknown as Relay;
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
    list: () => ({
      async *[Symbol.asyncIterator]() {
        yield record;
      },
      async *pages() {
        yield { items: [record], lastKey: null };
      },
    }),
    get: async () => ({ ...record, status: 'success' }),
  };
  const relay = createRelay(gateway, new AbortController().signal);
  await adoptClaims(relay);
  await relay.desk.idle();
  expect(relay.journal.open()).toEqual([]);
  expect(relay.desk.size).toBe(0);
});

test('it ends with the signal while the gateway hangs', async () => {
  await using hole = await startBlackHole();
  const abort = new AbortController();
  const gateway = createRelayerClient({ url: hole.url, account });
  const adopting = adoptClaims(createRelay(gateway, abort.signal)).then(() => 'ended');
  await expect.poll(() => hole.connections()).toBeGreaterThan(0);
  abort.abort();
  expect(await adopting).toBe('ended');
});
