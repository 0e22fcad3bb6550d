import { forwarderAbi } from '@prism-gateway/contracts';
import type { Sent } from '@prism-gateway/sender';
import { pino } from 'pino';
import { encodeErrorResult, getAddress, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { ChainError } from '../chain/chainError.ts';
import type { Simulated } from '../chain/createSimulator.ts';
import { openJournal } from '../journal/openJournal.ts';
import { createMetrics } from '../metrics/createMetrics.ts';
import type { Relay } from '../relay.ts';
import { createDesk } from './desk.ts';
import { followSubmission } from './submitRequests.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const FORWARDER = `0x${'22'.repeat(20)}` as const;

const tooEarly = encodeErrorResult({ abi: forwarderAbi, errorName: 'RequestNotYetOpen', args: [200n] });
const expired = encodeErrorResult({ abi: forwarderAbi, errorName: 'RequestExpired', args: [50n] });
const badSignature = encodeErrorResult({ abi: forwarderAbi, errorName: 'InvalidSignature', args: [SIGNER, 0n] });

/** A relayer whose transactions are all reverted, in block 7; a simulation says something else later, but for one without an answer. */
function createRelay(reverted: Hex, later: Simulated = { gas: 1n, returned: '0x' }, silentAt = 0) {
  let asked = 0;
  const sent = { status: 'reverted', txHash: WORD, blockNumber: 7n, logs: [], gasUsed: 1n, effectiveGasPrice: 1n };
  const reported: string[] = [];
  const relay = {
    gateway: { reportFailure: async (_: string, message: string) => void reported.push(message) },
    sender: { send: async () => sent as unknown as Sent },
    settings: { chainName: 'a', confirmations: 1 },
    chain: {
      forwarder: FORWARDER,
      nonces: async () => new Map([[SIGNER, 0n]]),
      head: async () => ({ number: 7n, timestamp: 100n }),
      replay: async (_: Hex, block: bigint) => (block === 7n ? { reverted } : undefined),
      async simulate() {
        asked += 1;
        if (asked === silentAt) throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer eth_call.');
        return later;
      },
    },
    state: { seconds: async () => 101n },
    journal: openJournal({ path: ':memory:', nowMs: 0 }),
    desk: createDesk(() => undefined),
    candidates: { touch: () => undefined },
    metrics: createMetrics(),
    logger: pino({ level: 'silent' }),
    ...{ now: () => 0, random: () => 0, wake: () => undefined, signal: new AbortController().signal },
  } as unknown as Relay;
  return { relay, reported };
}

/** Claims a request, and has it reverted as often as is asked for. @returns what was returned each time */
async function submitOften({ relay }: ReturnType<typeof createRelay>, times: number) {
  const { journal } = relay;
  const record = { requestId: 'r', action: 'DELETE_PRISM_FOR', signer: SIGNER, params: {}, createdAt: '' } as never;
  const wishes = [{ signer: SIGNER, nonce: 0n, r: WORD, s: WORD }];
  journal.adopt({ requestId: 'r', record, wishes, gas: 1n, claimedAtMs: 0 });
  const returned: (readonly string[])[] = [];
  for (let n = 1; n <= times; n += 1) {
    const submission = { intentId: `r#${n}`, to: FORWARDER, data: '0x', gasLimit: 1n, requestIds: ['r'] } as const;
    journal.submit([submission], 0);
    returned.push(await followSubmission(relay, submission));
  }
  return returned;
}

test('a transaction that came too early is tried again, however often', async () => {
  const made = createRelay(tooEarly);
  expect(await submitOften(made, 4)).toEqual([['r'], ['r'], ['r'], ['r']]);
  expect(made.relay.journal.get('r')?.state).toBe('claimed');
  expect(made.reported).toEqual([]);
});

test('one that would succeed by now is tried again three times in all', async () => {
  const made = createRelay(badSignature);
  expect(await submitOften(made, 3)).toEqual([['r'], ['r'], []]);
  expect(made.reported).toHaveLength(1);
});

test('one that still reverts is reported failed with the reason that it had in its block', async () => {
  const made = createRelay(badSignature, { reverted: expired });
  expect(await submitOften(made, 1)).toEqual([[]]);
  expect(made.reported).toEqual([`InvalidSignature(${getAddress(SIGNER)}, 0)`]);
});

test('nothing is concluded from a node that does not answer', async () => {
  const made = createRelay(badSignature, { reverted: expired }, 1);
  const { journal } = made.relay;
  expect(await submitOften(made, 1)).toEqual([[]]);
  expect(journal.get('r')).toBeUndefined();
  expect(made.reported).toEqual([`InvalidSignature(${getAddress(SIGNER)}, 0)`]);
});
