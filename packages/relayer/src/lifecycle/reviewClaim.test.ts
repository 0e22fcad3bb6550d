import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, test } from 'vitest';
import type { CheckRequests } from '../checks/checkRequests.ts';
import type { Verdict } from '../checks/verdict.ts';
import { openJournal } from '../journal/openJournal.ts';
import { createMetrics } from '../metrics/createMetrics.ts';
import { createChainNotes } from './createChainNotes.ts';
import { createInFlight } from './createInFlight.ts';
import { type ReviewPorts, reviewClaim } from './reviewClaim.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const GIVE_UP_MS = 5000;
const REASON = 'InvalidSignature(…, 6)';
const signature = { signer: SIGNER, v: 27, r: WORD, s: WORD };
const params = { cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '1', ...signature };
const record = { requestId: 'r', action: 'WRITE_DATA_FOR', signer: SIGNER, params, createdAt: '' } as const;
const READY: Verdict = { kind: 'ready', signatures: [], gas: 1n, feeWei: 1n, stake: { wei: 1n, gift: 0n } };
const AHEAD: Verdict = { kind: 'leave', reason: 'nonceAhead', recheckAtMs: 0 };

/** A claimed request of a chain whose checks say one thing after the other. */
function setUp(verdicts: readonly Verdict[], open: readonly RequestRecord[] = []) {
  const rest = [...verdicts];
  const journal = openJournal({ path: ':memory:', nowMs: 0 });
  const signatures = [{ signer: SIGNER, nonce: 7n, r: WORD, s: WORD }];
  journal.adopt({ requestId: 'r', record, signatures, gas: 1n, claimedAtMs: 0 });
  const inFlight = createInFlight((error) => expect.unreachable(String(error)));
  for (const request of journal.open()) inFlight.take(request);
  const check: CheckRequests = async () => {
    const verdict = rest.shift();
    return { verdicts: new Map(verdict === undefined ? [] : [['r', verdict]]), failures: new Map() };
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const clock = { nowMs: 0 };
  const ports = {
    ...{ journal, inFlight, check, policy: { giveUpMs: GIVE_UP_MS } },
    gateway: { release: async () => 'absent', newestOf: async () => open },
    recovery: { chainId: 1, forwarder: SIGNER, recoverSigner: async () => SIGNER },
    askChain: async () => ({ kind: 'open' }),
    ...{ bearRefusal: async () => true, findExpiry: async () => undefined },
    notes: createChainNotes({ metrics: createMetrics(['a']), chainName: 'a', log }),
    ...{ now: () => clock.nowMs, random: () => 0, signal: new AbortController().signal },
  } satisfies ReviewPorts;
  return { ports, clock, journal, inFlight };
}

// Shows RELAY-16.
test('what was refused for the chain as it was then is not reported failed when its turn has come', async () => {
  const { ports, clock, journal, inFlight } = setUp([AHEAD, READY]);
  inFlight.note('r', { kind: 'blocked', sinceMs: 9000, refusal: { reason: REASON, sinceMs: 0, lastMs: 0 } });
  clock.nowMs = 10_000;
  expect(await reviewClaim(ports, journal.open())).toEqual(['r']);
  expect(journal.get('r')?.state).toBe('claimed');
  expect(inFlight.standing('r')).toMatchObject({ kind: 'ready' });
  expect(inFlight.standing('r')?.refusal).toBeUndefined();
});

// Shows RELAY-16.
test('what looks well and is refused again and again is given up after the same patience', async () => {
  const { ports, clock, journal, inFlight } = setUp([READY, READY]);
  clock.nowMs = GIVE_UP_MS;
  // It took long until it was looked at: that is not its fault.
  inFlight.note('r', { kind: 'blocked', sinceMs: 0, refusal: { reason: REASON, sinceMs: 0, lastMs: 0 } });
  expect(await reviewClaim(ports, journal.open())).toEqual(['r']);
  expect(journal.get('r')?.state).toBe('claimed');
  inFlight.note('r', { kind: 'blocked', sinceMs: 0, refusal: { reason: REASON, sinceMs: 0, lastMs: GIVE_UP_MS } });
  expect(await reviewClaim(ports, journal.open())).toEqual(['r']);
  expect(journal.get('r')).toMatchObject({ state: 'mined', outcome: { status: 'failed', errorMessage: REASON } });
});

// Shows RELAY-3.
test('whose turn has not come is given up only once no open request goes before it, at two looks', async () => {
  const ahead: Verdict = { ...AHEAD, errorMessage: REASON, gap: { signer: SIGNER, nonce: 6n } };
  const before = { ...record, requestId: 'before', chainName: 'a', status: 'processing' } as unknown as RequestRecord;
  const open = [before];
  const { ports, clock, journal, inFlight } = setUp([ahead, ahead, ahead, ahead], open);
  inFlight.note('r', { kind: 'blocked', sinceMs: 1 });
  const looked: string[] = [];
  const askChain = async () => {
    looked.push(open.length === 0 ? 'ended' : 'open');
    // The one before it ends after the second look, however long each of them took.
    if (looked.length === 3) open.pop();
    clock.nowMs += 2 * GIVE_UP_MS;
    return { kind: 'open' } as const;
  };
  expect(await reviewClaim({ ...ports, askChain }, journal.open())).toEqual(['r']);
  expect(journal.get('r')).toMatchObject({ state: 'mined', outcome: { status: 'failed', errorMessage: REASON } });
  expect(looked).toHaveLength(4);
});
