import { forwarderAbi } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import { encodeFunctionResult } from 'viem/utils';
import { beforeEach, expect, it } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import { type CheckInput, checkRequest } from './checkRequest.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const [alice, bob] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`] as const;

/** The simulated batch's result for each of its entries. */
let written: readonly boolean[] = [];

function encodeResults(successes: readonly boolean[]): `0x${string}` {
  const result = successes.flatMap((success, index) =>
    success ? [] : [{ index: BigInt(index), reason: '0x' as const }],
  );
  return encodeFunctionResult({ abi: forwarderAbi, functionName: 'batchMultiUserWriteData', result });
}

/** A chain on which every simulation succeeds, as that of a multi-user batch does whatever its entries are worth. */
const simulatedAt: bigint[] = [];
const reader: Partial<ChainReader> = {
  extraCost: async () => ({ wei: 0n, gas: 0n }),
  simulate: async (_, { seconds }) => {
    simulatedAt.push(seconds);
    return { gas: 100_000n, returned: encodeResults(written) };
  },
};
const policy = { feeMarginPercent: 0, creditsPerEth: 10n ** 18n, maxFeePerGas: 10n ** 12n };
const context = makeContext({ chain: { reader }, policy });

beforeEach(() => {
  written = [true, true, true];
});

/** A multi-user batch whose entries were signed with these nonces; each signer's nonce on the chain is 5. */
function createInput(entries: readonly { readonly signer: `0x${string}`; readonly nonce: bigint }[]): CheckInput {
  const requests = entries.map(({ signer }) => ({
    ...{ signer, cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1000000000000000000', timestamp: '100' },
    ...{ v: 27, r: WORD, s: WORD },
  }));
  const params = { signer: alice, relayerFee: '0', timestamp: '100', v: 27, r: WORD, s: WORD, requests };
  return {
    record: {
      ...{ requestId: 'batch', action: 'BATCH_MULTI_USER_WRITE_DATA', signer: alice, createdAt: '' },
      params: params as ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>,
    },
    signatures: entries.map((entry) => ({ ...entry, r: WORD, s: WORD })),
    nonces: new Map([alice, bob].map((signer) => [signer, 5n])),
    head: { ...HEAD, number: 1n, timestamp: 100n, gasPrice: 1n, gasReserve: 1n },
    forwarder: { isOfficial: true, priorityWindow: 0n, maxAge: 1000n, shareBps: 10_000n },
    seconds: 101n,
  };
}

// Shows RELAY-6.
it('leaves a multi-user batch until each entry is in its turn', async () => {
  const input = createInput([
    { signer: alice, nonce: 5n },
    { signer: bob, nonce: 6n },
  ]);
  expect(await checkRequest(context, input)).toMatchObject({ kind: 'leave', reason: 'nonceAhead' });
});

it('takes a multi-user batch in which one signer has entries one after the other', async () => {
  const input = createInput([
    { signer: alice, nonce: 5n },
    { signer: bob, nonce: 5n },
    { signer: alice, nonce: 6n },
  ]);
  expect(await checkRequest(context, input)).toMatchObject({ kind: 'ready' });
});

// Shows RELAY-1.
it('ends what is past its age, whether or not its turn has come', async () => {
  const input = createInput([{ signer: bob, nonce: 6n }]);
  expect(await checkRequest(context, { ...input, seconds: 1101n })).toMatchObject({
    kind: 'hopeless',
    errorMessage: 'RequestExpired(1100)',
  });
  expect(await checkRequest(context, { ...input, seconds: 1100n })).toMatchObject({
    reason: 'nonceAhead',
    gap: { signer: bob, nonce: 5n },
  });
});

it('counts the fees of those entries of a multi-user batch alone that would be written', async () => {
  const input = createInput([
    { signer: alice, nonce: 5n },
    { signer: bob, nonce: 5n },
  ]);
  // Each pays one credit, and a credit is worth an ether: one pays for this gas, none does not.
  const priced = { ...input, head: { ...input.head, gasPrice: 10n ** 13n - 1n }, signatures: input.signatures };
  const rich = makeContext({ chain: { reader }, policy: { ...policy, maxFeePerGas: 10n ** 14n } });
  written = [false, true];
  expect(await checkRequest(rich, priced)).toMatchObject({ kind: 'ready', feeWei: 10n ** 18n });
  const dear = { ...priced, head: { ...input.head, gasPrice: 10n ** 13n + 1n } };
  expect(await checkRequest(rich, dear)).toMatchObject({ kind: 'leave', reason: 'fee' });
});

it('takes a multi-user batch of which nothing would be written for one that reverts', async () => {
  const input = createInput([{ signer: alice, nonce: 5n }]);
  written = [false];
  expect(await checkRequest(context, input)).toMatchObject({
    ...{ kind: 'leave', reason: 'reverts', signatures: input.signatures },
    errorMessage: 'reverted without a reason',
  });
});

// Shows RELAY-1.
it('simulates in a block later than the newest one, but reckons with one of the same time', async () => {
  const input = {
    ...createInput([{ signer: alice, nonce: 5n }]),
    head: { ...HEAD, number: 1n, timestamp: 101n, gasPrice: 1n, gasReserve: 1n },
  };
  expect(await checkRequest(context, input)).toMatchObject({ kind: 'ready' });
  expect(simulatedAt.at(-1)).toBe(102n);
  // Signed at 100, and open to others at 102.
  const forwarder = { ...input.forwarder, isOfficial: false, priorityWindow: 2n };
  expect(await checkRequest(context, { ...input, forwarder })).toMatchObject({ kind: 'leave', reason: 'early' });
});

// A block's gas would be cancelled and paid again and again otherwise.
it('ends at once what needs more gas than a transaction may have', async () => {
  const large = { ...reader, simulate: async () => ({ gas: 16_777_217n, returned: encodeResults([]) }) };
  const input = createInput([{ signer: alice, nonce: 5n }]);
  expect(await checkRequest(makeContext({ chain: { reader: large }, policy }), input)).toMatchObject({
    kind: 'hopeless',
    errorMessage: 'it needs 16777217 gas, and a transaction may have 16777216',
  });
});

// Shows RELAY-17.
it('looks each hour whether somebody else has carried out what is left for a budget', async () => {
  const untilMs = 86_400_000;
  const exceeded = { budget: 'signer', party: alice, lost: 2n, limit: 1n, untilMs } as const;
  const lost = makeContext({ chain: { reader }, policy, budgets: { findExceeded: () => exceeded } });
  const input = createInput([{ signer: alice, nonce: 5n }]);
  expect(await checkRequest(lost, input)).toMatchObject({ reason: 'budget', notBeforeMs: 3_600_000 });
  expect(await checkRequest(lost, { ...input, nonces: new Map([[alice, 6n]]) })).toMatchObject({ kind: 'hopeless' });
});
