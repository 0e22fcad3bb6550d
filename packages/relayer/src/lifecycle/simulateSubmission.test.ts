import { forwarderAbi } from '@prism-gateway/contracts';
import type { SimulatedBlock, SimulatedCall } from '@prism-gateway/node/rpc';
import { decodeFunctionData, encodeFunctionResult, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { simulateSubmission } from './simulateSubmission.ts';
import type { OpenRequest } from './states.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const addressOf = (byte: string): Hex => `0x${byte.repeat(20)}`;
const GWEI = 10n ** 9n;

function createWrite(byte: string, claimedAtMs: number): OpenRequest {
  const signer = addressOf(byte);
  const params = {
    signer,
    cloudId: WORD,
    dataId: WORD,
    payload: '0x',
    timestamp: '1',
    v: 27,
    r: WORD,
    s: WORD,
  } as const;
  const fee = String(3n * 10n ** 14n);
  const record = { requestId: byte, action: 'WRITE_DATA_FOR', signer, createdAt: '' } as const;
  return {
    ...{ requestId: byte, state: 'claimed', signatures: [], gas: 100_000n, intentId: undefined, attempts: 0 },
    ...{ record: { ...record, params: { ...params, relayerFee: fee } }, outcome: undefined, claimedAtMs },
  };
}

/** A chain on which the writes of some signers are refused; what it was asked is noted. */
function makeChain(refused: readonly Hex[], gas = 50_000n, extraWei = 0n) {
  const asked: { readonly block: SimulatedBlock; readonly terms: SimulatedCall['terms'] }[] = [];
  const reader = {
    extraCost: async () => ({ wei: extraWei, gas: 0n }),
    async simulate(data: Hex, block: SimulatedBlock, terms?: SimulatedCall['terms']) {
      asked.push({ block, terms });
      const { functionName, args } = decodeFunctionData({ abi: forwarderAbi, data });
      if (functionName !== 'batchMultiUserWriteData') return { gas, returned: '0x' as const };
      const result = args[0].flatMap(({ auth }, index) =>
        refused.includes(auth.signer.toLowerCase() as Hex) ? [{ index: BigInt(index), reason: '0x01' as const }] : [],
      );
      return { gas, returned: encodeFunctionResult({ abi: forwarderAbi, functionName, result }) };
    },
  };
  const policy = { leaseMs: 1000, creditsPerEth: 10n ** 18n };
  return { context: makeContext({ chain: { reader }, policy }), asked };
}

const head = { ...HEAD, baseFeePerGas: 1n * GWEI, tip: 1n * GWEI, gasPrice: 2n * GWEI };
const forwarder = { isOfficial: false, priorityWindow: 0n, maxAge: 1n, shareBps: 5000n };
const stage = { head, forwarder, seconds: 7n };

// Shows RELAY-15.
test('what is sent is what was simulated: the refused entries of a batch are left out first', async () => {
  const requests = [createWrite('a1', 50), createWrite('a2', 40), createWrite('a3', 60)];
  const { context, asked } = makeChain([addressOf('a2')]);
  const planned = await simulateSubmission(context, { requests, stage });
  expect(planned).toMatchObject([
    { kind: 'refused', requestIds: ['a2'] },
    { kind: 'ready', submission: { requestIds: ['a1', 'a3'], gasLimit: 305_000n } },
  ]);
  expect(asked.map(({ terms }) => terms?.gasLimit)).toEqual([445_000n, 305_000n]);
  expect(asked[1]).toMatchObject({
    block: { seconds: 7n, baseFeePerGas: 1n * GWEI, feeRecipient: HEAD.feeRecipient, prevRandao: HEAD.prevRandao },
    terms: { maxFeePerGas: 3n * GWEI, maxPriorityFeePerGas: 1n * GWEI },
  });
});

// Shows RELAY-16.
test('no version may offer more than the relayer’s share of the fees is worth, nor wait longer than the oldest lease', async () => {
  const { context } = makeChain([]);
  // Half of two fees of 3 × 10^14 wei, over 50,000 gas; of one, over as much.
  const two = await simulateSubmission(context, { requests: [createWrite('a1', 50), createWrite('a2', 40)], stage });
  expect(two).toMatchObject([{ submission: { maxFeePerGas: 6n * GWEI, expiresAtMs: 1040 } }]);
  const one = await simulateSubmission(context, { requests: [createWrite('a1', 50)], stage });
  // Signed in second 1, and too old a second later: a lease that goes on is of no use.
  const late = await simulateSubmission(context, { requests: [createWrite('a1', 1500)], stage });
  expect(late).toMatchObject([{ submission: { expiresAtMs: 2000 } }]);
  expect(one).toMatchObject([{ submission: { maxFeePerGas: 3n * GWEI, expiresAtMs: 1050 } }]);
});

// Shows RELAY-2, RELAY-16, COST-1.
test('what the chain charges beside the gas comes off the fee before anything is offered for gas', async () => {
  // Half of 3 × 10^14 wei is 1.5 × 10^14; a third of that goes for the data.
  const { context } = makeChain([], 40_000n, 5n * 10n ** 13n);
  const planned = await simulateSubmission(context, { requests: [createWrite('a1', 50)], stage });
  expect(planned).toMatchObject([{ kind: 'ready', submission: { maxFeePerGas: (5n * GWEI) / 2n } }]);
  const { context: dearer } = makeChain([], 40_000n, 8n * 10n ** 13n);
  const refused = await simulateSubmission(dearer, { requests: [createWrite('a1', 50)], stage });
  expect(refused).toMatchObject([{ kind: 'refused', requestIds: ['a1'] }]);
});

test('what its fees do not pay for, as it turns out at last, is not sent', async () => {
  const { context } = makeChain([], 80_000n);
  const planned = await simulateSubmission(context, { requests: [createWrite('a1', 50)], stage });
  expect(planned).toMatchObject([{ kind: 'refused', requestIds: ['a1'], reason: expect.stringContaining('fee') }]);
});
