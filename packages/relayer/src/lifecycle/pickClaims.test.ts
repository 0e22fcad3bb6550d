import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, test } from 'vitest';
import type { Verdict } from '../checks/verdict.ts';
import type { ClaimResult } from '../gateway/requestGateway.ts';
import { type Journal, openJournal } from '../journal/openJournal.ts';
import { createMetrics } from '../metrics/createMetrics.ts';
import { createCandidates } from './createCandidates.ts';
import { createChainNotes } from './createChainNotes.ts';
import { createClaimRateController } from './createClaimRateController.ts';
import { createInFlight } from './createInFlight.ts';
import { type PickPorts, pickClaims } from './pickClaims.ts';

const WORD = `0x${'11'.repeat(32)}` as const;
const SIGNER = `0x${'aa'.repeat(20)}` as const;

const record = {
  ...{ requestId: 'r1', chainName: 'c', action: 'WRITE_DATA_FOR', signer: SIGNER, status: 'pending' },
  ...{ params: { signer: SIGNER, v: 27, r: WORD, s: WORD }, createdAt: '', updatedAt: '' },
} as unknown as RequestRecord;

/** A gateway that gives each claim once; what is claimed ends at once. */
function createPorts(onClaim: () => void = () => undefined) {
  const advanced: string[] = [];
  const claimed: string[] = [];
  const candidates = createCandidates();
  const inFlight = createInFlight((error) => expect.unreachable(String(error)));
  const turn = { last: Promise.resolve() };
  const claiming: PickPorts['claiming'] = {
    ...{ candidates, inFlight, now: () => 0, signal: new AbortController().signal },
    queue: { dropClaimed: async (list) => list },
    gateway: {
      async claim(requestIds) {
        const results = requestIds.map((id): [string, ClaimResult] => [id, claimed.includes(id) ? 'conflict' : 'won']);
        claimed.push(...requestIds);
        onClaim();
        return new Map(results);
      },
    },
    journal: openJournal({ path: ':memory:', nowMs: 0 }),
    budgets: { hold: () => true },
    claimRate: createClaimRateController(),
    notes: createChainNotes({
      metrics: createMetrics(['c']),
      chainName: 'c',
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    }),
    advance(ids) {
      advanced.push(...ids);
      for (const id of ids) inFlight.drop(id);
    },
  };
  const ports: PickPorts = {
    ...{ claiming, inFlight, turn, settings: { maxInFlight: 8 }, isCustomer: () => true, countRoom: async () => 8 },
    ...{ now: () => 0, random: () => 0, queue: { hasMore: () => false } },
  };
  return { ports, candidates, claimed, advanced, turn };
}

const HOPELESS: Verdict = {
  ...{ kind: 'settle', errorMessage: 'used' },
  signatures: [{ signer: SIGNER, nonce: 1n, r: WORD, s: WORD }],
};

test('what was claimed and has ended while it was judged is not claimed once more', async () => {
  const { ports, candidates, claimed, turn } = createPorts();
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.judge(one, HOPELESS, 0);
  expect(await pickClaims(ports, seen)).toBe('claiming');
  await turn.last;
  const { share } = ports.claiming.claimRate;
  expect(await pickClaims(ports, seen)).toBe('idle');
  expect(claimed).toEqual(['r1']);
  // No rival was seen: as much is claimed as before.
  expect(ports.claiming.claimRate.share).toBeGreaterThanOrEqual(share);
});

test('what is won goes on though a block has its signer judged anew while the gateway is asked', async () => {
  const { ports, candidates, advanced, turn } = createPorts(() => candidates.touch(SIGNER));
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.judge(one, HOPELESS, 0);
  expect(await pickClaims(ports, seen)).toBe('claiming');
  await turn.last;
  expect(advanced).toEqual(['r1']);
});

test('what is to be judged anew by the time that it would be claimed is not claimed', async () => {
  const { ports, candidates, claimed, turn } = createPorts();
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.judge(one, HOPELESS, 0);
  const countRoom = async () => {
    candidates.touch(SIGNER);
    return 8;
  };
  await pickClaims({ ...ports, countRoom }, seen);
  await turn.last;
  expect(claimed).toEqual([]);
});

test("what the gateway refuses is no rival's: it is looked at again soon, and no less is claimed", async () => {
  const { ports, candidates, advanced, turn } = createPorts();
  const { claiming } = ports;
  const { share } = claiming.claimRate;
  const gateway: typeof claiming.gateway = { claim: async (ids) => new Map(ids.map((id) => [id, 'refused'])) };
  const seen = candidates.see([record], 0);
  for (const one of seen) candidates.judge(one, HOPELESS, 0);
  expect(await pickClaims({ ...ports, claiming: { ...claiming, gateway } }, seen)).toBe('claiming');
  await turn.last;
  expect([advanced, claiming.inFlight.size, claiming.claimRate.share]).toEqual([[], 0, share]);
  const recall = (nowMs: number) => (claiming.journal as Journal).recall({ nowMs, gasPrice: 1n, limit: 9 });
  expect([recall(4999), recall(5000)]).toEqual([[], ['r1']]);
});
