import { expect, test } from 'vitest';
import { ChainError } from '../chain/chainError.ts';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import { createBearOut } from './createBearOut.ts';

const [BLOCK, OTHER_BLOCK] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`] as const;
const SENT = { txHash: `0x${'33'.repeat(32)}`, blockNumber: 7n, blockHash: BLOCK, status: 'success' } as const;

type Witness = Pick<ChainRpc, 'read'>;
const receipt = (blockHash: string, status = '0x1') => ({ blockHash, status });

/** A node whose newest block has a number, and that has this receipt. */
const node = (found: unknown, head = '0x7'): Witness => ({
  read: async ([method], parse) => parse(method === 'eth_blockNumber' ? head : found),
});
const agrees = node(receipt(BLOCK));
const reverts = node(receipt(BLOCK, '0x0'));
const elsewhere = node(receipt(OTHER_BLOCK));
const knowsNone = node(null);
const isBehind = node(null, '0x6');
const fails: Witness = {
  read: async () => {
    throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer.');
  },
};
const isSilent: Witness = { read: () => new Promise(() => undefined) };

// Shows RELAY-20.
test.each<[string, readonly Witness[], string]>([
  ['one node alone', [knowsNone], 'true'],
  ['two that agree', [agrees, agrees], 'true'],
  ['two of three', [agrees, reverts, agrees], 'true'],
  ['two of three, while the third is silent', [isSilent, agrees, agrees], 'true'],
  ['one, while the others are behind or do not answer', [agrees, isBehind, fails], 'true'],
  ['one against one', [agrees, elsewhere], 'unsettled'],
  ['none that answers', [fails, isBehind], 'unsettled'],
  ['one against two', [agrees, elsewhere, knowsNone], 'false'],
])('a mined transaction is borne out by %s', async (_, witnesses, word) => {
  expect(await createBearOut(witnesses)(SENT)).toBe(word);
});
