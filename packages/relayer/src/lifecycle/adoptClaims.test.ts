import type { RequestRecord } from '@prism-gateway/protocol';
import { createRelayerClient } from '@prism-gateway/sdk';
import { startBlackHole } from '@prism-gateway/testing';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { createQueueCalls } from '../gateway/createQueueCalls.ts';
import { createRequestGateway } from '../gateway/createRequestGateway.ts';
import { openJournal } from '../journal/openJournal.ts';
import { createMetrics } from '../metrics/createMetrics.ts';
import { type AdoptPorts, adoptClaims } from './adoptClaims.ts';
import { createChainNotes } from './createChainNotes.ts';
import { createInFlight } from './createInFlight.ts';

const account = privateKeyToAccount(generatePrivateKey());
const WORD = `0x${'11'.repeat(32)}`;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const createNotes = () => createChainNotes({ metrics: createMetrics(['a']), chainName: 'a', log: silent });

/** A relayer on a chain on which nothing has happened yet, and that takes over nothing. */
function createPorts(gateway: AdoptPorts['gateway'] & AdoptPorts['takingOver']['gateway'], signal: AbortSignal) {
  const journal = openJournal({ path: ':memory:', nowMs: 0 });
  const inFlight = createInFlight((error) => expect.unreachable(String(error)));
  const findSignatures = async () => [];
  const shared = { gateway, journal, inFlight, findSignatures, notes: createNotes(), signal };
  const clock = { now: () => 0, random: () => 0, advance: (ids: readonly string[]) => expect(ids).toEqual([]) };
  const takingOver = {
    ...{ ...shared, ...clock, policy: { takeOverMs: 0, giveUpMs: 0 }, settings: { maxInFlight: 10 } },
    askChain: async () => ({ kind: 'open' }) as const,
    check: async () => ({ verdicts: new Map(), failures: new Map() }),
    findExpiry: async () => undefined,
  };
  return { ...shared, ...clock, relayer: account.address.toLowerCase(), isKeyShared: () => false, takingOver };
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
    claim: async () => new Map(),
  };
  const ports = createPorts(gateway, new AbortController().signal);
  await adoptClaims(ports);
  await ports.inFlight.idle();
  expect(ports.journal.open()).toEqual([]);
  expect(ports.inFlight.size).toBe(0);
});

test('it ends with the signal while the gateway hangs', async () => {
  await using hole = await startBlackHole();
  const abort = new AbortController();
  const { signal } = abort;
  const client = createRelayerClient({ url: hole.url, account });
  const calls = createQueueCalls({ client, chainName: 'a', signal });
  const gateway = createRequestGateway({ client, calls, chainName: 'a', notes: createNotes(), now: () => 0, signal });
  const adopting = adoptClaims(createPorts(gateway, signal)).then(() => 'ended');
  await expect.poll(() => hole.connections()).toBeGreaterThan(0);
  abort.abort();
  expect(await adopting).toBe('ended');
});
