import type { RequestRecord } from '@prism-gateway/protocol';
import { createRelayerClient } from '@prism-gateway/sdk';
import { startBlackHole } from '@prism-gateway/testing';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { type GivenContext, makeContext } from '../../test/makeContext.ts';
import { createQueueCalls, createRequestGateway } from '../gateway/createRequestGateway.ts';
import { adoptClaims } from './adoptClaims.ts';

const account = privateKeyToAccount(generatePrivateKey());
const WORD = `0x${'11'.repeat(32)}`;

/** A relayer on a chain on which nothing has happened yet, and that takes over nothing. */
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
