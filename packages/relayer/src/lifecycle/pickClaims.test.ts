import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, test } from 'vitest';
import { type GivenContext, makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import type { Verdict } from '../checks/leaveReasons.ts';
import type { ClaimResult } from '../gateway/requestGateway.ts';
import { pickClaims } from './pickClaims.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;

const record = {
  ...{ requestId: 'r1', chainName: 'c', action: 'WRITE_DATA_FOR', signer: SIGNER, status: 'pending' },
  ...{ params: { signer: SIGNER, v: 27, r: WORD, s: WORD }, createdAt: '', updatedAt: '' },
} as unknown as RequestRecord;

/** A gateway that gives each claim once; what is claimed ends at once. Every signer has paid before. */
function makeRelayer({
  sender,
  ...given
}: Omit<GivenContext, 'gateway' | 'chain'> & {
  readonly sender?: NonNullable<GivenContext['chain']>['sender'];
  readonly onClaim?: () => void;
  readonly onRoom?: () => void;
  readonly result?: ClaimResult;
} = {}) {
  const advanced: string[] = [];
  const advances: number[] = [];
  const claimed: string[] = [];
  const context = makeContext({
    gateway: {
      queue: { dropClaimed: async (list) => list },
      async claim(requestIds) {
        const results = requestIds.map((id): [string, ClaimResult] => [
          id,
          given.result ?? (claimed.includes(id) ? 'conflict' : 'won'),
        ]);
        claimed.push(...requestIds);
        given.onClaim?.();
        return new Map(results);
      },
    },
    chain: {
      ...(sender && { sender }),
      state: {
        async balance() {
          given.onRoom?.();
          return 10n ** 20n;
        },
        head: async () => HEAD,
      },
      reader: { extraCost: async () => ({ wei: 0n, gas: 0n }) },
    },
    budgets: { canHold: () => true, hold: () => true, release: () => undefined, isKnownPayer: () => true },
    policy: { maxInFlight: 8 },
    advance(ids) {
      advances.push(ids.length);
      advanced.push(...ids);
      for (const id of ids) context.inFlight.drop(id);
    },
    ...given,
  });
  const { candidates } = context.gateway;
  return { context, candidates, claimed, advanced, advances, claiming: context.inFlight.claiming };
}

const readyOf = (signer: `0x${string}`): Verdict => ({
  ...{ kind: 'ready', gas: 1n, feeWei: 1n, stake: { wei: 0n, gift: 0n } },
  signatures: [{ signer, nonce: 1n, r: WORD, s: WORD }],
});
const HOPELESS: Verdict = {
  ...{ kind: 'hopeless', errorMessage: 'used' },
  signatures: [{ signer: SIGNER, nonce: 1n, r: WORD, s: WORD }],
};

// Shows RELAY-17.
test('what is given up has a quarter of the room together, however long it takes to report, and whoever posted it', async () => {
  const { context, candidates, claimed, claiming } = makeRelayer({
    policy: { maxInFlight: 16 },
    advance: () => undefined,
  });
  const signers = Array.from({ length: 40 }, (_, i) => `0x${String(i).padStart(40, '0')}` as const);
  const records = signers.map((signer, i) => ({
    ...record,
    requestId: `r${i}`,
    signer,
    params: { ...record.params, signer },
  }));
  // They are records.
  const seen = candidates.see(records as RequestRecord[], 0);
  for (const one of seen) {
    const signatures = [{ signer: one.record.signer as `0x${string}`, nonce: 1n, r: WORD, s: WORD }];
    candidates.recordVerdict(one, { kind: 'hopeless', errorMessage: 'used', signatures }, 0);
  }
  for (let look = 0; look < 30; look++) {
    await pickClaims(context, seen);
    await claiming.last;
  }
  expect(claimed).toHaveLength(4);
  // One that is reported makes room for the next one.
  context.inFlight.drop(claimed[0] ?? '');
  await pickClaims(context, seen);
  await claiming.last;
  expect(claimed).toHaveLength(5);
});

test('what was claimed and has ended while it was evaluated is not claimed once more', async () => {
  const { context, candidates, claimed, claiming } = makeRelayer();
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.recordVerdict(one, HOPELESS, 0);
  expect(await pickClaims(context, seen)).toBe('claiming');
  await claiming.last;
  const { share } = context.inFlight.claimRate;
  expect(await pickClaims(context, seen)).toBe('idle');
  expect(claimed).toEqual(['r1']);
  // No rival was seen: as much is claimed as before.
  expect(context.inFlight.claimRate.share).toBeGreaterThanOrEqual(share);
});

test('what a start claims in several bursts, for there may be rivals, goes on together', async () => {
  const { context, candidates, claimed, advances, claiming } = makeRelayer({
    policy: { maxInFlight: 512 },
    random: () => 0.4,
  });
  const seen = candidates.see(
    Array.from({ length: 10 }, (_, i) => {
      const signer = `0x${String(i).padStart(40, '0')}` as const;
      return { ...record, requestId: `r${i}`, signer, params: { ...record.params, signer } } as RequestRecord;
    }),
    0,
  );
  for (const one of seen) candidates.recordVerdict(one, readyOf(one.record.signer as `0x${string}`), 0);
  for (let rounds = 0; rounds < 30 && claimed.length < 10; rounds += 1) {
    await pickClaims(context, seen);
    await claiming.last;
  }
  expect([claimed.length, advances]).toEqual([10, [10]]);
});

test('what is won goes on though a block has its signer evaluated anew while the gateway is asked', async () => {
  const { context, candidates, advanced, claiming } = makeRelayer({ onClaim: () => candidates.touch(SIGNER) });
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.recordVerdict(one, HOPELESS, 0);
  expect(await pickClaims(context, seen)).toBe('claiming');
  await claiming.last;
  expect(advanced).toEqual(['r1']);
});

test('what is to be evaluated anew by the time that it would be claimed is not claimed', async () => {
  const { context, candidates, claimed, claiming } = makeRelayer({ onRoom: () => candidates.touch(SIGNER) });
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.recordVerdict(one, HOPELESS, 0);
  await pickClaims(context, seen);
  await claiming.last;
  expect(claimed).toEqual([]);
});

test("what the gateway refuses is no rival's: it is looked at again soon, and no less is claimed", async () => {
  const { context, candidates, advanced, claiming } = makeRelayer({ result: 'refused' });
  const { inFlight, journal } = context;
  const { share } = inFlight.claimRate;
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.recordVerdict(one, HOPELESS, 0);
  expect(await pickClaims(context, seen)).toBe('claiming');
  await claiming.last;
  expect([advanced, inFlight.size, inFlight.claimRate.share]).toEqual([[], 0, share]);
  const recall = (nowMs: number) =>
    journal.recall({ nowMs, gasPrice: 1n, limit: 9, isFull: false, isKnown: () => false });
  expect([recall(4999), recall(5000)]).toEqual([[], ['r1']]);
});

// Shows RELAY-17.
test('what its budget does not let in now is no work that the next look should hurry for', async () => {
  let canHold = false;
  const budgets = { canHold: () => canHold, hold: () => canHold, release: () => undefined, isKnownPayer: () => true };
  const { context, candidates, claimed, claiming } = makeRelayer({ budgets });
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.recordVerdict(one, readyOf(SIGNER), 0);
  expect(await pickClaims(context, seen)).toBe('waiting');
  canHold = true;
  expect(await pickClaims(context, seen)).toBe('claiming');
  await claiming.last;
  expect(claimed).toEqual(['r1']);
});

// Shows RELAY-16.
test('nothing is sent behind a transaction that may not offer what gas costs; what pays has it make way', async () => {
  let [unblocked, isStuck] = [0, true];
  const sender = {
    isStuck: () => isStuck,
    unblock({ waiting }: { readonly waiting: number }) {
      unblocked += waiting;
      return waiting > 0;
    },
  };
  let nowMs = 0;
  const { context, candidates, claimed, claiming } = makeRelayer({ sender, now: () => nowMs });
  const seen = candidates.see([record], 0);
  async function pickWith(verdict: Verdict, atMs: number) {
    nowMs = atMs;
    for (const one of seen) candidates.recordVerdict(one, verdict, nowMs);
    const result = await pickClaims(context, seen);
    await claiming.last;
    return [unblocked, result];
  }
  expect(await pickWith(readyOf(SIGNER), 0)).toEqual([0, 'waiting']);
  expect(await pickWith(readyOf(SIGNER), 120_000)).toEqual([1, 'waiting']);
  expect(claimed).toEqual([]);
  // It needs no transaction.
  expect(await pickWith(HOPELESS, 120_000)).toEqual([1, 'claiming']);
  expect(claimed).toEqual(['r1']);
  // The next one in line has waited as long; one that is stuck a minute later has not.
  const [again] = candidates.see([{ ...record, requestId: 'r2' }], 130_000);
  if (again === undefined) throw new Error('it is seen');
  candidates.recordVerdict(again, readyOf(SIGNER), 130_000);
  for (const [atMs, count] of [
    [130_000, 2],
    [200_000, 2],
  ] as const) {
    nowMs = atMs;
    isStuck = false;
    await pickClaims(context, []);
    isStuck = true;
    await pickClaims(context, [again]);
    expect(unblocked).toBe(count);
  }
});
