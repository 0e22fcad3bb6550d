import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, it } from 'vitest';
import { HEAD } from '../../test/makeHead.ts';
import { checkRequests } from '../checks/checkRequests.ts';
import { proveSignatures } from '../checks/proveSignatures.ts';
import { screenRequests } from '../checks/screenRequests.ts';
import { createListedQueue } from '../gateway/createListedQueue.ts';
import type { ClaimResult } from '../gateway/requestGateway.ts';
import { openJournal } from '../journal/openJournal.ts';
import { createMetrics } from '../metrics/createMetrics.ts';
import { createCandidates } from './createCandidates.ts';
import { createChainNotes } from './createChainNotes.ts';
import { createClaimRateController } from './createClaimRateController.ts';
import { createInFlight } from './createInFlight.ts';
import { type PickPorts, pickClaims } from './pickClaims.ts';
import { countRoom, type RoundPorts, runRound } from './runRound.ts';

const PAGE = 100;
const WORD = `0x${'11'.repeat(32)}` as const;
const FORWARDER = `0x${'f0'.repeat(20)}` as const;

/** A write whose signer tells what becomes of it. */
function write(index: number, kind: 'junk' | 'good'): RequestRecord {
  const signer = `0x${kind === 'good' ? 'bb' : 'aa'}${String(index).padStart(38, '0')}`;
  const params = { cloudId: '0x01', dataId: '0x01', payload: '0x', relayerFee: '1000000000000000000', timestamp: '1' };
  return {
    ...{ requestId: `${kind} ${index}`, chainName: 'c', action: 'WRITE_DATA_FOR', signer, status: 'pending' },
    ...{
      params: { ...params, signer, v: 27, r: `${signer}${'00'.repeat(12)}`, s: WORD },
      createdAt: '',
      updatedAt: '',
    },
  } as RequestRecord;
}

/** Pages of these requests. */
function createLists(records: readonly RequestRecord[]) {
  async function page(lastKey?: string | null) {
    const start = Number(lastKey ?? 0);
    const end = start + PAGE;
    return { items: records.slice(start, end), lastKey: end < records.length ? String(end) : null };
  }
  return { list: () => ({ page }) };
}

/** A relayer on a chain where junk reverts; its gateway lists these requests, and gives none of its claims. */
function createRelayer(records: readonly RequestRecord[]) {
  const clock = { nowMs: 0 };
  const claimed: string[] = [];
  const gateway = {
    async claim(requestIds: readonly string[]) {
      claimed.push(...requestIds);
      return new Map(requestIds.map((id): [string, ClaimResult] => [id, 'conflict']));
    },
    newestOf: async () => [],
  };
  const head = { ...HEAD, number: 1n, timestamp: 1n, gasPrice: 1n, gasReserve: 1n };
  const forwarder = { isOfficial: true, priorityWindow: 0n, maxAge: 1000n, shareBps: 10_000n };
  const state = {
    ...{ balance: async () => 10n ** 18n, head: async () => head, policy: async () => forwarder },
    seconds: async () => 2n,
    settleSeconds: async () => 1n,
  };
  const chain = {
    extraCost: async () => ({ wei: 0n, gas: 0n }),
    ...{
      forwarder: '0x00000000000000000000000000000000000000f0' as const,
      relayer: '0x00000000000000000000000000000000000000f1' as const,
    },
    nonces: async (signers: readonly `0x${string}`[]) => new Map(signers.map((signer) => [signer, 0n])),
    simulate: async (data: string) =>
      data.includes('bb000') ? ({ gas: 100_000n, returned: '0x' } as const) : ({ reverted: '0x' } as const),
  };
  // A round takes so long that the page is read again before a claim.
  const now = () => {
    clock.nowMs += 5;
    return clock.nowMs;
  };
  // The first twenty bytes of `r` are who has signed.
  const recoverSigner = async ({ r }: { readonly r: `0x${string}` }): Promise<`0x${string}`> => `0x${r.slice(2, 42)}`;
  const recovery = { chainId: 1, forwarder: FORWARDER, recoverSigner };
  const policy = {
    actions: new Set(['WRITE_DATA_FOR'] as const),
    maxSponsorCredits: 0n,
    feeMarginPercent: 0,
    giveUpMs: 120_000,
    ...{ unknownWallets: false, unknownWalletMarginPercent: 100 },
  };
  const settings = { maxInFlight: 128, maxFeePerGas: 10n ** 12n, creditsPerEth: 10n ** 18n };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const signal = new AbortController().signal;
  const shared = {
    journal: openJournal({ path: ':memory:', nowMs: 0 }),
    inFlight: createInFlight((error) => expect.unreachable(String(error))),
    candidates: createCandidates(),
    notes: createChainNotes({ metrics: createMetrics(['c']), chainName: 'c', log }),
    ...{ gateway, now, random: () => 0.5, signal },
  };
  const budgets = { findExceeded: () => undefined, hold: () => true };
  const checks = { chain, state, policy, settings, recovery, budgets, readWallet: async () => undefined, now };
  const queue = createListedQueue({ ...shared, client: createLists(records), chainName: 'c' });
  const room = {
    queue,
    countRoom: () => countRoom({ ...shared, chain, state, settings, sender: { isHeld: () => false } }),
  };
  const advance = (ids: readonly string[]) => expect(ids).toEqual([]);
  const claiming = { ...shared, queue, budgets, advance, claimRate: createClaimRateController() };
  const turn = { last: Promise.resolve() };
  const isCustomer = () => false;
  const picking: PickPorts = { ...shared, ...room, settings, isCustomer, claiming, turn };
  const ports: RoundPorts = {
    ...room,
    judging: {
      ...shared,
      policy,
      recovery,
      screen: (wanted) => screenRequests(checks, wanted),
      check: (wanted) => checkRequests(checks, wanted),
      prove: (wanted) => proveSignatures(checks, wanted),
      strangers: { requestIds: new Set(), last: Promise.resolve(), isShared: false, fault: undefined },
      ...{ news: queue.news, wake: () => undefined },
      ...{
        noteFailures: async () => undefined,
        noteUnjudged: () => undefined,
        isCustomer,
        refusals: { note: () => undefined },
        counts: { current: () => new Map() },
      },
      pickClaims: (seen) => pickClaims(picking, seen),
    },
  };
  return { ports, clock, claimed, turn };
}

it('comes to what stands behind pages full of requests that nobody takes', async () => {
  const junk = Array.from({ length: 2 * PAGE + 10 }, (_, i) => write(i, 'junk'));
  const records = [...junk];
  const { ports, clock, claimed, turn } = createRelayer(records);
  for (let round = 0; round < 20; round += 1) {
    if (round === 4) records.push(write(1, 'good'));
    // The pause of an idle relayer: longer than the one before it looks again at what would revert.
    clock.nowMs += 2000;
    await runRound(ports);
    await turn.last;
    if (claimed.length > 0) break;
  }
  expect(claimed).toEqual(['good 1']);
});
