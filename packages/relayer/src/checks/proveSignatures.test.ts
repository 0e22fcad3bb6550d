import { createRecoverSigner } from '@prism-gateway/node/accounts';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { type GivenContext, makeContext } from '../../test/makeContext.ts';
import type { RelayedRecord } from '../lifecycle/states.ts';
import { proveSignatures } from './checkRequests.ts';
import { createNonceSearch } from './createNonceSearch.ts';

const [chainId, forwarder] = [31_337, `0x${'f0'.repeat(20)}`] as const;
const account = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const WALLET = `0x${'aa'.repeat(20)}` as const;
const action = 'WRITE_DATA_FOR';

/** A write that the account has signed. @param signer - in whose name it is posted */
async function write(requestId: string, nonce: bigint, signer: string = account.address) {
  const params = { cloudId: '0xc1', dataId: '0x0d', payload: '0xab', relayerFee: '1', timestamp: '100' };
  const signature = await account.signTypedData(createTypedData({ action, params, nonce, chainId, forwarder }));
  const signed = createSignedParams({ action, params, signer: account.address, signature });
  const record = { requestId, action, signer, params: { ...signed, signer } } as RelayedRecord;
  return { record, search: createNonceSearch(record) };
}

test('a signature of the named signer’s own key with its next nonce is proven; one in another’s name is not', async () => {
  let recovered = 0;
  const recoverSigner = createRecoverSigner();
  const chain: NonNullable<GivenContext['chain']> = {
    ...{ chainId, forwarder },
    reader: { nonces: async (signers) => new Map(signers.map((signer) => [signer, 7n])) },
    async recoverSigner(signed) {
      recovered += 1;
      return await recoverSigner(signed);
    },
  };
  const context = makeContext({ chain });
  const own = await write('own', 7n);
  const requests = [own, await write('wallet', 7n, WALLET), await write('later', 8n)];
  const expected = [
    ['own', true],
    ['wallet', false],
    ['later', false],
  ];
  expect([...(await proveSignatures(context, requests))]).toEqual(expected);
  expect(recovered).toBe(3);
  // What was found is remembered.
  expect(own.search.signatures()).toMatchObject([{ nonce: 7n }]);
  expect([...(await proveSignatures(context, requests))]).toEqual(expected);
  expect(recovered).toBe(3);
  // Whose nonce the node does not say, nothing is said of.
  const silent = makeContext({ chain: { ...chain, reader: { nonces: async () => new Map() } } });
  expect([...(await proveSignatures(silent, [own]))]).toEqual([]);
});
