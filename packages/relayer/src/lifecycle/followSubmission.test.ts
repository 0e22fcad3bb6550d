import { forwarderAbi } from '@prism-gateway/contracts';
import type { Simulated } from '@prism-gateway/node/rpc';
import type { UnsignedParams } from '@prism-gateway/protocol/typed-data';
import type { Sent } from '@prism-gateway/sender';
import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  getAddress,
  type Hex,
  type Log,
  stringToHex,
} from 'viem';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { ChainError } from '../chain/chainError.ts';
import { createRequestHasher, listSignedParts } from '../checks/findNonce.ts';
import type { RelayerContext } from './context.ts';
import { followSubmission } from './followSubmission.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const BOUNDS = { maxFeePerGas: 9n, expiresAtMs: undefined };
const FORWARDER = `0x${'22'.repeat(20)}` as const;

const tooEarly = encodeErrorResult({ abi: forwarderAbi, errorName: 'RequestNotYetOpen', args: [200n] });
const expired = encodeErrorResult({ abi: forwarderAbi, errorName: 'RequestExpired', args: [50n] });
const badSignature = encodeErrorResult({ abi: forwarderAbi, errorName: 'InvalidSignature', args: [SIGNER, 0n] });

const makeRecord = (requestId: string, action: 'DELETE_PRISM_FOR' | 'WRITE_DATA_FOR') => {
  const params = { cloudId: WORD, dataId: WORD, payload: stringToHex(requestId), relayerFee: '1', timestamp: '1' };
  const signature = { signer: SIGNER, v: 27, r: WORD, s: WORD };
  return { requestId, action, signer: SIGNER, params: { ...params, ...signature }, createdAt: '' };
};

const SENT: Sent = {
  ...{ intentId: 'i', nonce: 1, status: 'reverted', txHash: WORD, blockNumber: 7n, blockHash: WORD, logs: [] },
  ...{ gasUsed: 1n, effectiveGasPrice: 1n, dataFee: 0n },
};

/** Differences from a chain of one node on which a transaction is reverted, in block 7. */
interface GivenChain {
  /** The result of later simulations. */
  readonly later?: Simulated;
  /** The simulation that has no answer. */
  readonly silentAt?: number;
  /** The first node's answer to the sender. */
  readonly sent?: Sent;
  /** The receipts of two other nodes; null: none. */
  readonly receipt?: () => object | null;
  readonly now?: () => number;
}

/** A relayer whose transactions are all reverted. */
function makeRelayer(reverted: Hex | undefined, given: GivenChain = {}) {
  const { later = { gas: 1n, returned: '0x' }, silentAt = 0, sent = SENT, receipt, now = () => 0 } = given;
  let asked = 0;
  const head = { ...HEAD, number: 7n, timestamp: 100n, gasPrice: 1n, gasReserve: 1n };
  const reader = {
    nonces: async () => new Map([[SIGNER, 0n]]),
    block: async () => head,
    replay: async (_: Hex, block: bigint) => (block === 7n && reverted !== undefined ? { reverted } : undefined),
    async simulate() {
      asked += 1;
      if (asked === silentAt) throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer eth_call.');
      return later;
    },
  };
  const node = (name: string) => ({
    ...{ name, reader },
    rpc: {
      read: async <T>([method]: readonly [string, ...unknown[]], parse: (answer: unknown) => T) =>
        parse(method === 'eth_blockNumber' ? '0x7' : (receipt?.() ?? null)),
    },
  });
  return makeContext({
    chain: {
      ...{ chainId: 1, forwarder: FORWARDER, reader, sender: { send: async () => sent, get: () => undefined } },
      nodes: receipt === undefined ? [node('a')] : [node('a'), node('b')],
      state: {
        policy: async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1n, shareBps: 10_000n }),
        seconds: async () => 101n,
      },
    },
    policy: { creditsPerEth: 10n ** 18n, maxHeadAgeSeconds: 0 },
    budgets: {},
    now,
  });
}

/** As a node has it. */
const RECEIPT = {
  ...{ transactionHash: WORD, from: `0x${'f1'.repeat(20)}`, blockHash: WORD, blockNumber: '0x7', status: '0x0' },
  ...{ logs: [], gasUsed: '0x1', effectiveGasPrice: '0x1' },
};

/** Claims a request, and has it reverted as often as is asked for. @returns the state in which it was each time */
async function submitOften(context: RelayerContext, times: number) {
  const { journal, inFlight } = context;
  const record = makeRecord('r', 'DELETE_PRISM_FOR');
  const signatures = [{ signer: SIGNER, nonce: 0n, r: WORD, s: WORD }];
  journal.adopt({ requestId: 'r', record, signatures, gas: 1n, claimedAtMs: 0 });
  const states: (string | undefined)[] = [];
  for (let n = 1; n <= times; n += 1) {
    const submission = {
      intentId: `r#${n}`,
      to: FORWARDER,
      data: '0x',
      gasLimit: 1n,
      ...BOUNDS,
      requestIds: ['r'],
    } as const;
    inFlight.note('r', { kind: 'ready', gas: 1n, feeWei: 1n });
    journal.submit([submission], { by: 'submitClaims', nowMs: 0 });
    expect(await followSubmission(context, journal.open())).toEqual(['r']);
    states.push(journal.get('r')?.state);
  }
  return states;
}

const readError = ({ journal }: RelayerContext) => {
  const outcome = journal.get('r')?.outcome;
  return outcome?.status === 'failed' ? outcome.errorMessage : undefined;
};

test('a transaction that came too early is tried again, however often', async () => {
  const context = makeRelayer(tooEarly);
  expect(await submitOften(context, 4)).toEqual(['claimed', 'claimed', 'claimed', 'claimed']);
});

test('one that was reverted is not sent again, though it would succeed by now', async () => {
  const context = makeRelayer(badSignature);
  expect(await submitOften(context, 1)).toEqual(['finalized']);
  expect(readError(context)).toBe(`InvalidSignature(${getAddress(SIGNER)}, 0)`);
});

/** The Forwarder's event for an entry that it refuses; its signer's next nonce is 0. */
function refuse(requestId: string, reason: Hex): Log {
  const [part] = listSignedParts(makeRecord(requestId, 'WRITE_DATA_FOR'));
  if (part === undefined) throw new TypeError('a write has one signature');
  const { action, params } = part;
  const digest = createRequestHasher({ action, params: params as UnsignedParams, chainId: 1, forwarder: FORWARDER })(
    0n,
  );
  const args = { digest, signer: SIGNER, nonce: 0n };
  const topics = encodeEventTopics({ abi: forwarderAbi, eventName: 'RequestRefused', args });
  const data = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [FORWARDER, reason]);
  // The rest of a log says nothing here.
  return { address: FORWARDER, topics, data, logIndex: 0 } as unknown as Log;
}

// Shows RELAY-10.
test('what is refused for a nonce that is not there yet is checked again, and is its signer’s loss only if the earlier one failed beside it', async () => {
  for (const [nonces, reasons, signers] of [
    [[1n], [badSignature], []],
    [[0n, 1n], [expired, badSignature], [SIGNER]],
  ] as const) {
    const logs = reasons.map((reason, index) => refuse(`r${nonces[index]}`, reason));
    const context = makeRelayer(badSignature, { sent: { ...SENT, status: 'success', gasUsed: 2n, logs } });
    const { journal, inFlight } = context;
    const requestIds = nonces.map((nonce) => `r${nonce}`);
    for (const nonce of nonces) {
      const record = makeRecord(`r${nonce}`, 'WRITE_DATA_FOR');
      const signatures = [{ signer: SIGNER, nonce, r: WORD, s: WORD }];
      journal.adopt({ requestId: record.requestId, record, signatures, gas: 1n, claimedAtMs: 0 });
      inFlight.note(record.requestId, { kind: 'ready', gas: 1n, feeWei: 1n });
    }
    const submission = { intentId: 'batch', to: FORWARDER, data: '0x', gasLimit: 1n, ...BOUNDS, requestIds } as const;
    journal.submit([submission], { by: 'submitClaims', nowMs: 0 });
    await followSubmission(context, journal.open());
    expect(journal.get('r1')?.state).toBe('claimed');
    expect(journal.losses(-1).find(({ requestId }) => requestId === 'r1')).toMatchObject({ signers });
    if (nonces.length > 1) expect(journal.get('r0')?.state).toBe('finalized');
  }
});

// Shows RELAY-17.
test('a revert is a loss of its signer, but for one that the chain is to blame for', async () => {
  for (const [reason, signers] of [
    [badSignature, [SIGNER]],
    [tooEarly, []],
  ] as const) {
    const context = makeRelayer(reason);
    await submitOften(context, 1);
    expect(context.journal.losses(-1)).toEqual([{ requestId: 'r', signers, codes: [], wei: 1n, gift: 0n, atMs: 0 }]);
  }
});

test('one whose reason nobody knows any more is not sent again either', async () => {
  const context = makeRelayer(undefined);
  expect(await submitOften(context, 1)).toEqual(['finalized']);
  expect(readError(context)).toBe(`transaction ${WORD} was reverted without a reason`);
});

test('nothing is concluded from a node that does not answer', async () => {
  const context = makeRelayer(undefined, { later: { reverted: expired }, silentAt: 1 });
  expect(await submitOften(context, 1)).toEqual(['finalized']);
  expect(readError(context)).toBe('RequestExpired(50)');
});

// Shows RELAY-20.
test('what one node has as a success and the others as reverted is a loss, and is not sent again', async () => {
  const context = makeRelayer(badSignature, { sent: { ...SENT, status: 'success' }, receipt: () => RECEIPT });
  expect(await submitOften(context, 1)).toEqual(['finalized']);
  expect(readError(context)).toBe(`InvalidSignature(${getAddress(SIGNER)}, 0)`);
  expect(context.journal.losses(-1)).toMatchObject([{ requestId: 'r', wei: 1n }]);
});

// Shows RELAY-20.
test('a receipt that one node has made up has nothing sent a second time: what was sent is waited for', async () => {
  let asked = 0;
  // Two nodes are asked, each of them three times.
  const lying = makeRelayer(badSignature, { receipt: () => (++asked <= 4 ? null : RECEIPT) });
  expect(await submitOften(lying, 1)).toEqual(['finalized']);
  expect(asked).toBe(6);
  let nowMs = 0;
  const now = () => {
    nowMs += 20_000;
    return nowMs;
  };
  expect(await submitOften(makeRelayer(badSignature, { receipt: () => null, now }), 1)).toEqual(['claimed']);
});

test('the requests of a batch that was reverted as a whole go alone', async () => {
  const context = makeRelayer(badSignature);
  const { journal } = context;
  const requestIds = ['a', 'b'];
  for (const requestId of requestIds) {
    const record = makeRecord(requestId, 'WRITE_DATA_FOR');
    journal.adopt({ requestId, record, signatures: [], gas: 1n, claimedAtMs: 0 });
    context.inFlight.note(requestId, { kind: 'ready', gas: 1n, feeWei: 1n });
  }
  const submission = { intentId: 'batch', to: FORWARDER, data: '0x', gasLimit: 1n, ...BOUNDS, requestIds } as const;
  journal.submit([submission], { by: 'submitClaims', nowMs: 0 });
  expect(await followSubmission(context, journal.open())).toEqual(requestIds);
  expect(requestIds.map((id) => journal.get(id)?.state)).toEqual(['claimed', 'claimed']);
});

test('a submission that the sender does not know after a restart is checked again, and its claim confirmed', async () => {
  const context = makeRelayer(badSignature);
  const { journal } = context;
  const record = makeRecord('r', 'DELETE_PRISM_FOR');
  journal.adopt({ requestId: 'r', record, signatures: [], gas: 1n, claimedAtMs: 0 });
  const submission = {
    intentId: 'r#1',
    to: FORWARDER,
    data: '0x',
    gasLimit: 1n,
    ...BOUNDS,
    requestIds: ['r'],
  } as const;
  journal.submit([submission], { by: 'submitClaims', nowMs: 0 });
  expect(await followSubmission(context, journal.open())).toEqual(['r']);
  expect(journal.get('r')?.state).toBe('claimed');
  expect(context.inFlight.status('r')).toBeUndefined();
});
