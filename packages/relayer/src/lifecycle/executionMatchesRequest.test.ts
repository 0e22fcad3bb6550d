import { encodeForwarderCall, type RequestExecuted } from '@prism-gateway/contracts';
import { createMultiUserBatchParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { executionMatchesRequest } from './executionMatchesRequest.ts';

const word = (byte: string): Hex => `0x${byte.repeat(32)}`;
const [wallet, other] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`] as const;

/** A transaction that carries writes of these signers, each with a signature of its own, and what became of them. */
function createChain(entries: readonly (readonly [Hex, string, { success: boolean; nonce: bigint; payload?: Hex }])[]) {
  const requests = entries.map(([signer, byte, { payload = '0x' }]) => ({
    ...{ signer, cloudId: word('01'), dataId: word('02'), payload, relayerFee: '1', timestamp: '1' },
    ...{ v: 27, r: word(byte), s: word(byte) },
  }));
  const params = createMultiUserBatchParams({ signer: other, timestamp: '1', requests });
  const { data } = encodeForwarderCall({ action: 'BATCH_MULTI_USER_WRITE_DATA', params });
  return {
    calldata: async () => data,
    events: async () =>
      entries.map(([signer, , { success, nonce }]) => ({ signer, success, nonce }) as RequestExecuted),
  };
}

const halves = (byte: string) => ({ signer: wallet, r: word(byte), s: word(byte) });
const execution = { txHash: word('ff'), nonce: 5n };

// Shows RELAY-5.
test('of several entries of a signer in a batch, the one that was written is told from one that failed beside it', async () => {
  const chain = createChain([
    [other, '10', { success: true, nonce: 0n }],
    [wallet, '11', { success: true, nonce: 5n }],
    [wallet, '12', { success: false, nonce: 6n }],
  ]);
  expect(await executionMatchesRequest(chain, halves('11'), execution)).toBe(true);
  expect(await executionMatchesRequest(chain, halves('12'), execution)).toBe(false);
});

test('a signature in somebody’s payload is not carried', async () => {
  const chain = createChain([
    [other, '10', { success: true, nonce: 0n, payload: word('12') }],
    [wallet, '11', { success: true, nonce: 5n }],
  ]);
  expect(await executionMatchesRequest(chain, halves('11'), execution)).toBe(true);
  expect(await executionMatchesRequest(chain, halves('12'), execution)).toBe(false);
});
