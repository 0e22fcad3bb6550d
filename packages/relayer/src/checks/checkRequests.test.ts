import { forwarderAbi } from '@prism-gateway/contracts';
import { createRecoverSigner } from '@prism-gateway/node/accounts';
import type { Action } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeErrorResult, encodeFunctionResult } from 'viem/utils';
import { expect, it } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { ChainError } from '../chain/chainError.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import type { RelayedRecord } from '../lifecycle/states.ts';
import { checkRequests } from './checkRequests.ts';
import { createNonceSearch } from './createNonceSearch.ts';

const [chainId, forwarder] = [31_337, `0x${'f0'.repeat(20)}`] as const;
const account = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const ENTRIES = 10;
/** From 64 behind the signer's nonce, which is 70, up to 64 ahead. */
const NEAR = 128;

async function sign(nonce: bigint, relayerFee = '1', timestamp = '100') {
  const params = { cloudId: '0xc1', dataId: '0x0d', payload: '0xab', relayerFee, timestamp };
  const action = 'WRITE_DATA_FOR';
  const signature = await account.signTypedData(createTypedData({ action, params, nonce, chainId, forwarder }));
  return createSignedParams({ action, params, signer: account.address, signature });
}

const refusal = encodeErrorResult({ abi: forwarderAbi, errorName: 'InvalidSignature', args: [account.address, 70n] });

/** A chain on which a write succeeds, and no entry of a batch does; what is recovered is counted. */
function createChain(given: Partial<ChainReader> = {}) {
  const chain = { nonce: 70n, recovered: 0 };
  const recoverSigner = createRecoverSigner();
  const result = Array.from({ length: ENTRIES }, (_, index) => ({ index: BigInt(index), reason: refusal }));
  const returned = encodeFunctionResult({ abi: forwarderAbi, functionName: 'batchMultiUserWriteData', result });
  const reader: Partial<ChainReader> = {
    nonces: async (signers) => new Map(signers.map((signer) => [signer, chain.nonce])),
    simulate: async () => ({ gas: 1n, returned }),
    extraCost: async () => ({ wei: 0n, gas: 0n }),
    code: async () => '0x',
    ...given,
  };
  const context = makeContext({
    chain: {
      ...{ chainId, forwarder, reader },
      state: {
        head: async () => ({ ...HEAD, number: 1n, timestamp: 100n, gasPrice: 1n, gasReserve: 1n }),
        policy: async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1000n, shareBps: 10_000n }),
        seconds: async () => 101n,
        finalitySeconds: async () => 1n,
      },
      async recoverSigner(signed) {
        chain.recovered += 1;
        return await recoverSigner(signed);
      },
    },
    policy: { feeMarginPercent: 0, creditsPerEth: 1n, maxFeePerGas: 10n },
  });
  return { chain, context };
}

function createCandidate(requestId: string, params: RelayedRecord['params'], action: Action = 'WRITE_DATA_FOR') {
  const record = { requestId, action, signer: account.address, params, createdAt: '' };
  return { record, search: createNonceSearch(record) };
}

/** A batch of entries that were altered after they were signed. */
async function createJunk(requestId = 'junk') {
  const entry = { ...(await sign(70n)), dataId: '0x0e' };
  const params = { ...entry, requests: Array.from({ length: ENTRIES }, () => entry) };
  return createCandidate(requestId, params, 'BATCH_MULTI_USER_WRITE_DATA');
}

it('looks for the nonces of bad signatures a part at a time, and evaluates the others meanwhile', async () => {
  const { chain, context } = createChain();
  const [junk, good] = [await createJunk(), createCandidate('good', await sign(70n))];
  const check = async () => {
    chain.recovered = 0;
    const { verdicts } = await checkRequests(context, { candidates: [junk, good], maxTries: 4 * NEAR });
    return [verdicts.get('good'), verdicts.get('junk'), chain.recovered];
  };
  const ready = expect.objectContaining({ kind: 'ready' });
  const unknown = expect.objectContaining({ kind: 'leave', reason: 'nonceUnknown' });
  // Each entry was tried with the next nonce at once, and some of them with the others.
  const tries = 4 * NEAR + 5 * (NEAR - 1);
  expect(await check()).toEqual([ready, unknown, expect.toSatisfy((count: number) => count < tries)]);
  while (chain.recovered > 0) await check();
  expect(await check()).toEqual([
    ready,
    expect.objectContaining({ reason: 'signature', errorMessage: `InvalidSignature(${account.address}, 70)` }),
    0,
  ]);
});

it('tries no nonce twice: of a signer who goes on, the new ones alone', async () => {
  const { chain, context } = createChain();
  const junk = await createJunk();
  await checkRequests(context, { candidates: [junk] });
  expect(chain.recovered).toBe(ENTRIES * NEAR);
  chain.nonce = 72n;
  chain.recovered = 0;
  const { verdicts } = await checkRequests(context, { candidates: [junk] });
  expect(chain.recovered).toBe(ENTRIES * 2);
  expect(verdicts.get('junk')).toMatchObject({ reason: 'signature' });
});

it.each([
  ['its turn', 70n, 1, { kind: 'ready' }],
  ['ahead', 73n, 4, { reason: 'nonceAhead', gap: { nonce: 70n } }],
  ['behind', 69n, 65, { kind: 'hopeless' }],
])('finds the nonce of a request: %s', async (_, nonce, tries, verdict) => {
  const { chain, context } = createChain();
  const candidate = createCandidate('one', await sign(nonce));
  for (const recovered of [tries, 0]) {
    chain.recovered = 0;
    const { verdicts } = await checkRequests(context, { candidates: [candidate], maxTries: NEAR });
    expect(verdicts.get('one')).toMatchObject(verdict);
    expect(chain.recovered).toBe(recovered);
  }
});

// Shows RELAY-17.
it('finds the nonce of what is a few ahead of its turn, whatever bad signatures use up all tries before it', async () => {
  const { chain, context } = createChain();
  const forged = createCandidate('forged', { ...(await sign(70n)), dataId: '0x0e' });
  const next = createCandidate('next', await sign(73n));
  const far = createCandidate('far', await sign(80n));
  const { verdicts } = await checkRequests(context, { candidates: [forged, far, next], maxTries: 1 });
  expect(verdicts.get('next')).toMatchObject({ reason: 'nonceAhead', gap: { nonce: 70n } });
  expect(verdicts.get('far')).toMatchObject({ reason: 'nonceUnknown' });
  // One of them with all, the others with the few.
  expect(chain.recovered).toBe(NEAR + 4 + 4);
});

it('looks to the end whether what pays too little is carried out already, however few nonces are tried at a time', async () => {
  const { context } = createChain();
  const params = { ...(await sign(69n, '0')), requests: [await sign(11n, '0'), await sign(10n, '0')] };
  const used = createCandidate('used', params, 'BATCH_MULTI_USER_WRITE_DATA');
  const open = createCandidate('open', await sign(72n, '0'));
  const check = async () => {
    const candidates = [used, open].map((candidate) => ({ ...candidate, isTouched: true }));
    const { verdicts } = await checkRequests(context, { candidates, maxTries: 1 });
    return [verdicts.get('used'), verdicts.get('open')];
  };
  const fee = expect.objectContaining({ reason: 'fee' });
  expect(await check()).toEqual([expect.objectContaining({ reason: 'nonceUnknown' }), fee]);
  expect(await check()).toEqual([expect.objectContaining({ kind: 'hopeless' }), fee]);
});

// Shows RELAY-4.
it('looks whether the nonce of what was signed by a clock that is ahead is used already', async () => {
  const { context } = createChain();
  const signed = [await sign(69n, '1', '7200'), await sign(70n, '1', '7200')];
  const [used, open] = signed.map((params, index) => createCandidate(`${index}`, params));
  const candidates = [used!, open!].map((candidate) => ({ ...candidate, isTouched: true }));
  const { verdicts } = await checkRequests(context, { candidates });
  expect([...verdicts.values()]).toMatchObject([{ kind: 'hopeless' }, { reason: 'early' }]);
});

it('says which requests it could not evaluate, and why, and evaluates the others', async () => {
  const silent = new ChainError('RPC_UNAVAILABLE', 'The node did not answer eth_simulateV1.');
  const { context } = createChain({
    async simulate(data) {
      if (data.includes('bad0')) throw silent;
      return { gas: 1n, returned: '0x' };
    },
  });
  const action = 'WRITE_DATA_FOR';
  const params = { cloudId: '0xc1', dataId: '0x0d', payload: '0xbad0', relayerFee: '1', timestamp: '100' };
  const signature = await account.signTypedData(createTypedData({ action, params, nonce: 70n, chainId, forwarder }));
  const bad = createSignedParams({ action, params, signer: account.address, signature });
  const candidates = [createCandidate('bad', bad), createCandidate('good', await sign(70n))];
  const { verdicts, failures } = await checkRequests(context, { candidates });
  expect([...verdicts.keys()]).toEqual(['good']);
  expect([...failures]).toEqual([['bad', silent]]);
});
