import { GatewayError } from '@prism-gateway/sdk';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD, STATE } from '../../test/makeHead.ts';
import type { ReportResult } from '../gateway/requestGateway.ts';
import { reportOutcomes } from './reportOutcomes.ts';
import type { Outcome } from './states.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const TX = `0x${'22'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const NONCE = 7n;
const signature = { signer: SIGNER, v: 27, r: WORD, s: WORD };
const params = { cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '1', ...signature };
const record = { requestId: 'r', action: 'WRITE_DATA_FOR', signer: SIGNER, params, createdAt: '' } as const;
const TAKEN_BACK: Outcome = { status: 'failed', errorMessage: `its signer took back forwarder nonce 7, in ${TX}` };
const REVERTED: Outcome = { status: 'failed', errorMessage: 'InvalidData()' };

interface Scene {
  readonly outcome: Outcome;
  /** The signer's forwarder nonce whenever the chain is asked; behind the request's: something has used that. */
  readonly nonce: bigint;
  /** The result of each report. */
  readonly results?: readonly ReportResult[];
  /** Whether it was found out before a restart. */
  readonly isOld?: boolean;
  readonly wasSent?: boolean;
  /** How many reads find the gateway down. */
  readonly downFor?: number;
  /** The relayer ends when the chain has been asked so often. */
  readonly endsAfter?: number;
}

/** A request whose outcome is journalled, on a chain on which no execution is found, but an invalidation of its nonce. */
function setUp({
  outcome,
  nonce,
  results = ['unknown', 'reported'],
  isOld = false,
  wasSent = false,
  downFor = 0,
  endsAfter = 0,
}: Scene) {
  const end = new AbortController();
  let down = downFor;
  let asked = 0;
  const reported: Outcome[] = [];
  const advanced: string[] = [];
  const reader = {
    async nonces() {
      if (++asked === endsAfter) end.abort();
      return new Map([[SIGNER, nonce]]);
    },
    block: async () => HEAD,
    simulate: async () => ({ gas: 1n, returned: '0x' as const }),
    extraCost: async () => ({ wei: 0n, gas: 0n }),
  };
  const context = makeContext({
    chain: {
      nodes: [
        {
          reader,
          findInvalidation: async () => ({ txHash: TX, blockNumber: HEAD.number }),
        },
      ],
      reader,
      state: STATE,
      recoverSigner: async () => SIGNER,
    },
    gateway: {
      async read() {
        if (down-- > 0) throw new GatewayError({ kind: 'NETWORK_FAILED', message: 'it is down' });
        return undefined;
      },
      async report(ended) {
        reported.push(...ended.map((one) => one.outcome));
        return new Map(ended.map(({ requestId }) => [requestId, results[reported.length - 1] ?? 'unknown']));
      },
    },
    policy: { maxHeadAgeSeconds: 0, creditsPerEth: 1n },
    advance: (ids) => void advanced.push(...ids),
    signal: end.signal,
  });
  const { journal, inFlight } = context;
  const signatures = [{ signer: SIGNER, nonce: NONCE, r: WORD, s: WORD }];
  journal.adopt({ requestId: 'r', record, signatures, gas: 1n, claimedAtMs: 0 });
  if (wasSent) {
    const call = { to: SIGNER, data: '0x00', gasLimit: 1n, maxFeePerGas: undefined, expiresAtMs: undefined } as const;
    journal.submit([{ ...call, intentId: 'i', requestIds: ['r'] }], { by: 'submitClaims', nowMs: 0 });
  }
  const by = wasSent ? 'finalizeSubmission' : 'reviewClaim';
  journal.move([{ requestId: 'r', to: 'finalized', by, outcome, nowMs: 0 }]);
  for (const request of journal.open()) inFlight.take(request);
  if (!isOld) inFlight.note('r', { kind: 'blocked', sinceMs: 0 });
  return { context, journal, inFlight, reported, advanced, askedNodes: () => asked };
}

// Shows RELAY-5.
test('a failure that a reorganisation has undone is not reported a second time, but looked at again', async () => {
  const { context, journal, inFlight, reported, advanced } = setUp({ outcome: TAKEN_BACK, nonce: NONCE });
  await reportOutcomes(context, journal.open());
  expect(reported).toEqual([TAKEN_BACK]);
  expect(journal.get('r')?.state).toBe('claimed');
  expect(advanced).toEqual(['r']);
  // Whether the first report arrived, only the gateway knows.
  expect(inFlight.status('r')).toBeUndefined();
});

// Shows RELAY-5.
test('what still stands is reported until the gateway answers', async () => {
  const { context, journal, reported } = setUp({ outcome: TAKEN_BACK, nonce: NONCE + 1n });
  await reportOutcomes(context, journal.open());
  expect(reported).toEqual([TAKEN_BACK, TAKEN_BACK]);
  expect(journal.get('r')).toBeUndefined();
});

// Shows RELAY-5.
test('after a restart the chain is asked before the first report', async () => {
  const { context, journal, reported } = setUp({ outcome: TAKEN_BACK, nonce: NONCE, isOld: true });
  await reportOutcomes(context, journal.open());
  expect(reported).toEqual([]);
  expect(journal.get('r')?.state).toBe('claimed');
});

// Shows RELAY-5.
test('a success whose own transaction is gone is neither reported nor done again: the sender brings it back', async () => {
  const outcome = { status: 'success', txHash: TX } as const;
  const { context, journal, reported } = setUp({ outcome, nonce: NONCE, isOld: true, wasSent: true, endsAfter: 2 });
  await reportOutcomes(context, journal.open());
  expect(reported).toEqual([]);
  expect(journal.get('r')?.state).toBe('finalized');
});

test('while the gateway is down no node is asked', async () => {
  const { context, journal, reported, askedNodes } = setUp({ outcome: TAKEN_BACK, nonce: NONCE + 1n, downFor: 2 });
  await reportOutcomes(context, journal.open());
  expect(reported).toEqual([TAKEN_BACK, TAKEN_BACK]);
  expect(askedNodes()).toBe(1);
});

// Shows RELAY-5.
test('what was paid for and reverted stays failed, whatever the chain says later', async () => {
  const { context, journal, reported } = setUp({ outcome: REVERTED, nonce: NONCE, wasSent: true });
  await reportOutcomes(context, journal.open());
  expect(reported).toEqual([REVERTED, REVERTED]);
});

// Shows RELAY-8.
test('what the gateway says is claimed no more is looked at again: after a restore it may be pending', async () => {
  const { context, journal } = setUp({ outcome: TAKEN_BACK, nonce: NONCE + 1n, results: ['lost'] });
  await reportOutcomes(context, journal.open());
  const recall = { gasPrice: undefined, limit: 9, isFull: false, isKnown: () => false };
  expect(journal.recall({ nowMs: context.now() + 60_000, ...recall })).toEqual(['r']);
});
