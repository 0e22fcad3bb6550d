import { forwarderAbi } from '@prism-gateway/contracts';
import { GatewayError } from '@prism-gateway/sdk';
import { encodeErrorResult, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD, STATE } from '../../test/makeHead.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import type { NonceGap } from '../checks/leaveReasons.ts';
import type { OpenRequest } from '../lifecycle/states.ts';
import { confirmRevert } from './confirmRevert.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const signature = { signer: SIGNER, r: WORD, s: WORD };
const params = { ...signature, cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '1', v: 27 };
const record = { requestId: 'r', action: 'WRITE_DATA_FOR', signer: SIGNER, createdAt: '', params } as const;
/** Signed for forwarder nonce 9. */
const request = { requestId: 'r', record, signatures: [{ ...signature, nonce: 9n }] } as unknown as OpenRequest;
const earlier = { ...record, requestId: 'earlier', chainName: 'c', status: 'pending' } as never;

/** A node on which the signer's forwarder nonce is that one, so that the request would revert. */
function node(nonce: bigint) {
  const reverted = encodeErrorResult({ abi: forwarderAbi, errorName: 'InvalidSignature', args: [SIGNER, nonce] });
  return { reader: { block: async () => HEAD, simulate: async () => ({ reverted }) } };
}

/** A node on which it is that one, and that would carry the request out all the same: the account's code says yes to anything. */
function willingNode(nonce: bigint): { reader: Partial<ChainReader> } {
  const nonces = async (signers: readonly Hex[]) => new Map(signers.map((signer) => [signer, nonce]));
  return { reader: { block: async () => HEAD, simulate: async () => ({ gas: 1n, returned: '0x' }), nonces } };
}

/** @param openNonce - of the signer's only open request */
const confirm = (
  nonces: readonly bigint[],
  openNonce: bigint | 'unknown',
  makeNode: (nonce: bigint) => { reader: Partial<ChainReader> } = node,
  missing?: NonceGap,
) =>
  confirmRevert(
    makeContext({
      chain: {
        nodes: nonces.map((nonce) => makeNode(nonce)),
        state: STATE,
        // Whatever was signed for the nonce of the open request has the signer as its signer, in these tests.
        recoverSigner: async () => (openNonce === 'unknown' || !nonces.includes(openNonce) ? undefined : SIGNER) as Hex,
      },
      gateway: {
        async newestOf() {
          if (openNonce === 'unknown')
            throw new GatewayError({ code: 'NETWORK_FAILED', message: 'no answer' } as never);
          return [earlier];
        },
      },
      policy: { maxHeadAgeSeconds: 0 },
    }),
    { ...request, missing },
  );

// Shows RELAY-20.
test('what waits for an open request by the word of some node is not failed, whatever the others take for the nonce', async () => {
  expect(await confirm([7n, 7n, 8n], 8n)).toBe('awaited');
  expect(await confirm([7n, 7n, 7n], 8n)).toBe('confirmed');
  expect(await confirm([7n, 7n, 7n], 'unknown')).toBe('awaited');
  // It is its turn, or past it: no earlier one has to come.
  expect(await confirm([9n, 9n, 10n], 9n)).toBe('confirmed');
});

// Shows RELAY-20.
test('what would be carried out is failed if it is not in its turn: a part of a batch would be, and what an account with code says yes to', async () => {
  expect(await confirm([10n, 10n], 3n, willingNode)).toBe('confirmed');
  expect(await confirm([8n, 8n], 3n, willingNode)).toBe('confirmed');
  expect(await confirm([8n, 8n], 8n, willingNode)).toBe('awaited');
  expect(await confirm([9n, 9n], 3n, willingNode)).toBe('disputed');
  expect(await confirm([9n, 10n], 3n, willingNode)).toBe('disputed');
});

// Shows RELAY-3.
test('a nonce that was waited for beyond all patience, and is posted after the claim, comes too late; another one does not', async () => {
  const missing = { signer: SIGNER, nonce: 7n };
  expect(await confirm([7n, 7n], 7n, node, missing)).toBe('confirmed');
  expect(await confirm([8n, 8n], 8n, node, missing)).toBe('awaited');
});
