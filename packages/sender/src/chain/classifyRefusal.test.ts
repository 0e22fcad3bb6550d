import { RpcAnswerError, RpcUnavailableError } from '@prism-gateway/node/rpc';
import { expect, test } from 'vitest';
import { classifyRefusal, type Refusal } from './classifyRefusal.ts';

/** Words of geth, Anvil, Nethermind, Erigon, Besu and reth. */
test.each<[string, Refusal]>([
  ['already known', 'known'],
  ['transaction already imported', 'known'],
  ['AlreadyKnown', 'known'],
  ['Known transaction', 'known'],
  ['nonce too low', 'nonceUsed'],
  ['nonce too low: next nonce 5, tx nonce 3', 'nonceUsed'],
  ['OldNonce', 'nonceUsed'],
  ['replacement transaction underpriced', 'underpriced'],
  ['transaction underpriced', 'underpriced'],
  ['max fee per gas less than block base fee', 'underpriced'],
  ['Insufficient funds for gas * price + value', 'funds'],
  ['insufficient funds for gas * price + value: balance 1, tx cost 2', 'funds'],
  ['intrinsic gas too low', 'invalid'],
  ['intrinsic gas too high -- tx.gas_limit > env.block.gas_limit', 'invalid'],
  ['exceeds block gas limit', 'invalid'],
  ['max initcode size exceeded', 'invalid'],
  ['invalid chain id for signer', 'invalid'],
  ['internal error', 'unknown'],
  ['the method eth_sendRawTransaction does not exist', 'unknown'],
])('%j is %s', (message, refusal) => {
  expect(classifyRefusal(new RpcAnswerError({ code: -32_000, message }))).toBe(refusal);
});

test('what is no word of the node says nothing', () => {
  expect(classifyRefusal(new RpcUnavailableError('nonce too low'))).toBe('unknown');
  expect(classifyRefusal(new Error('already known'))).toBe('unknown');
});
