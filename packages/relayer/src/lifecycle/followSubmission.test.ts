import { forwarderAbi } from '@prism-gateway/contracts';
import type { Simulated } from '@prism-gateway/rpc';
import type { Sent } from '@prism-gateway/sender';
import { encodeErrorResult, getAddress, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { HEAD } from '../../test/makeHead.ts';
import { createBudgets } from '../budgets/createBudgets.ts';
import { ChainError } from '../chain/chainError.ts';
import { openJournal } from '../journal/openJournal.ts';
import { createMetrics } from '../metrics/createMetrics.ts';
import { askChain } from './askChain.ts';
import { createChainNotes } from './createChainNotes.ts';
import { createInFlight } from './createInFlight.ts';
import { type FollowPorts, followSubmission } from './followSubmission.ts';
import { createBatchCostTracker } from './gatherWrites.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const BOUNDS = { maxFeePerGas: 9n, expiresAtMs: undefined };
const LIMITS = {
  ...{ requestWei: 9n, signerWei: 9n, codeWei: 9n, hourWei: 9n, dayWei: 9n },
  ...{ signerGifts: 9n, dayGifts: 9n },
};
const FORWARDER = `0x${'22'.repeat(20)}` as const;

const tooEarly = encodeErrorResult({ abi: forwarderAbi, errorName: 'RequestNotYetOpen', args: [200n] });
const expired = encodeErrorResult({ abi: forwarderAbi, errorName: 'RequestExpired', args: [50n] });
const badSignature = encodeErrorResult({ abi: forwarderAbi, errorName: 'InvalidSignature', args: [SIGNER, 0n] });

const makeRecord = (requestId: string, action: 'DELETE_PRISM_FOR' | 'WRITE_DATA_FOR') => {
  const params = { cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '1' };
  const signature = { signer: SIGNER, v: 27, r: WORD, s: WORD };
  return { requestId, action, signer: SIGNER, params: { ...params, ...signature }, createdAt: '' };
};

/** A relayer whose transactions are all reverted, in block 7; a simulation says something else later, but for one without an answer. */
function createPorts(reverted: Hex | undefined, later: Simulated = { gas: 1n, returned: '0x' }, silentAt = 0) {
  let asked = 0;
  const sent: Sent = {
    ...{ intentId: 'i', nonce: 1, status: 'reverted', txHash: WORD, blockNumber: 7n, blockHash: WORD, logs: [] },
    ...{ gasUsed: 1n, effectiveGasPrice: 1n, dataFee: 0n },
  };
  const head = { ...HEAD, number: 7n, timestamp: 100n, gasPrice: 1n, gasReserve: 1n };
  const policy = async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1n, shareBps: 10_000n });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const recovery = { chainId: 1, forwarder: FORWARDER };
  const journal = openJournal({ path: ':memory:', nowMs: 0 });
  const asking = {
    chain: {
      nonces: async () => new Map([[SIGNER, 0n]]),
      head: async () => head,
    },
    ...{ state: { policy }, findExecution: async () => undefined, findInvalidation: async () => undefined },
    ...{ recovery, confirmations: 1 },
  };
  const ports = {
    sender: { send: async () => sent, get: () => undefined },
    bearOut: async (receipt) => ({ kind: 'mined', receipt }),
    askChain: (request, knownBlock) => askChain(asking, { request, knownBlock }),
    recovery,
    chain: {
      replay: async (_: Hex, block: bigint) => (block === 7n && reverted !== undefined ? { reverted } : undefined),
      async simulate() {
        asked += 1;
        if (asked === silentAt) throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer eth_call.');
        return later;
      },
    },
    state: { policy, seconds: async () => 101n },
    ...{ journal, budgets: createBudgets({ journal, limits: LIMITS, now: () => 0, onExceeded: () => undefined }) },
    inFlight: createInFlight((error) => expect.unreachable(String(error))),
    ...{ batchCosts: createBatchCostTracker(), settings: { creditsPerEth: 10n ** 18n } },
    notes: createChainNotes({ metrics: createMetrics(['a']), chainName: 'a', log }),
    ...{ advance: () => undefined, confirmations: 1 },
    ...{ now: () => 0, random: () => 0, signal: new AbortController().signal },
  } satisfies FollowPorts;
  return ports;
}

type TestedPorts = Omit<ReturnType<typeof createPorts>, 'bearOut' | 'now'> & Pick<FollowPorts, 'bearOut' | 'now'>;

/** Claims a request, and has it reverted as often as is asked for. @returns the state in which it was each time */
async function submitOften(ports: TestedPorts, times: number) {
  const { journal, inFlight } = ports;
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
    expect(await followSubmission(ports, journal.open())).toEqual(['r']);
    states.push(journal.get('r')?.state);
  }
  return states;
}

const readError = ({ journal }: Pick<TestedPorts, 'journal'>) => {
  const outcome = journal.get('r')?.outcome;
  return outcome?.status === 'failed' ? outcome.errorMessage : undefined;
};

test('a transaction that came too early is tried again, however often', async () => {
  const ports = createPorts(tooEarly);
  expect(await submitOften(ports, 4)).toEqual(['claimed', 'claimed', 'claimed', 'claimed']);
});

test('one that was reverted is not sent again, though it would succeed by now', async () => {
  const ports = createPorts(badSignature);
  expect(await submitOften(ports, 1)).toEqual(['mined']);
  expect(readError(ports)).toBe(`InvalidSignature(${getAddress(SIGNER)}, 0)`);
});

// Shows RELAY-17.
test('a revert is a loss of its signer, but for one that the chain is to blame for', async () => {
  for (const [reason, signers] of [
    [badSignature, [SIGNER]],
    [tooEarly, []],
  ] as const) {
    const ports = createPorts(reason);
    await submitOften(ports, 1);
    expect(ports.journal.losses(-1)).toEqual([{ requestId: 'r', signers, codes: [], wei: 1n, gift: 0n, atMs: 0 }]);
  }
});

test('one whose reason nobody knows any more is not sent again either', async () => {
  const ports = createPorts(undefined);
  expect(await submitOften(ports, 1)).toEqual(['mined']);
  expect(readError(ports)).toBe(`transaction ${WORD} was reverted without a reason`);
});

test('nothing is concluded from a node that does not answer', async () => {
  const ports = createPorts(undefined, { reverted: expired }, 1);
  expect(await submitOften(ports, 1)).toEqual(['mined']);
  expect(readError(ports)).toBe('RequestExpired(50)');
});

// Shows RELAY-20.
test('what one node has as a success and the others as reverted is a loss, and is not sent again', async () => {
  const ports = createPorts(badSignature);
  const { send } = ports.sender;
  const lying = {
    ...ports,
    sender: { ...ports.sender, send: async () => ({ ...(await send()), status: 'success' as const }) },
    bearOut: async () => ({ kind: 'mined' as const, receipt: await send() }),
  };
  expect(await submitOften(lying, 1)).toEqual(['mined']);
  expect(readError(lying)).toBe(`InvalidSignature(${getAddress(SIGNER)}, 0)`);
  expect(lying.journal.losses(-1)).toMatchObject([{ requestId: 'r', wei: 1n }]);
});

// Shows RELAY-20.
test('a receipt that one node has made up has nothing sent a second time: what was sent is waited for', async () => {
  const ports = createPorts(badSignature);
  let asked = 0;
  const bearOut: FollowPorts['bearOut'] = async (receipt) => {
    asked += 1;
    return asked < 3 ? { kind: 'none' } : { kind: 'mined', receipt };
  };
  const lying = { ...ports, bearOut };
  expect(await submitOften(lying, 1)).toEqual(['mined']);
  expect(asked).toBe(3);
  let nowMs = 0;
  const late = createPorts(badSignature);
  const now = () => {
    nowMs += 20_000;
    return nowMs;
  };
  expect(await submitOften({ ...late, now, bearOut: async () => ({ kind: 'none' }) }, 1)).toEqual(['claimed']);
});

test('the requests of a batch that was reverted as a whole go alone', async () => {
  const ports = createPorts(badSignature);
  const { journal } = ports;
  const requestIds = ['a', 'b'];
  for (const requestId of requestIds) {
    const record = makeRecord(requestId, 'WRITE_DATA_FOR');
    journal.adopt({ requestId, record, signatures: [], gas: 1n, claimedAtMs: 0 });
    ports.inFlight.note(requestId, { kind: 'ready', gas: 1n, feeWei: 1n });
  }
  const submission = { intentId: 'batch', to: FORWARDER, data: '0x', gasLimit: 1n, ...BOUNDS, requestIds } as const;
  journal.submit([submission], { by: 'submitClaims', nowMs: 0 });
  expect(await followSubmission(ports, journal.open())).toEqual(requestIds);
  expect(requestIds.map((id) => journal.get(id)?.state)).toEqual(['claimed', 'claimed']);
});

test('a submission that the sender does not know after a restart is checked again, and its claim confirmed', async () => {
  const ports = createPorts(badSignature);
  const { journal } = ports;
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
  expect(await followSubmission(ports, journal.open())).toEqual(['r']);
  expect(journal.get('r')?.state).toBe('claimed');
  expect(ports.inFlight.standing('r')).toBeUndefined();
});
