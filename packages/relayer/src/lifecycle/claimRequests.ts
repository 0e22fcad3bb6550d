import type { RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '@prism-gateway/sdk';
import type { Budgets } from '../budgets/createBudgets.ts';
import type { PendingQueue } from '../gateway/pendingQueue.ts';
import type { ClaimResult, RequestGateway } from '../gateway/requestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { JudgedRequest } from '../journal/openJudgedTable.ts';
import type { Candidate, Candidates } from './createCandidates.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { ClaimRateController } from './createClaimRateController.ts';
import type { InFlight } from './createInFlight.ts';

/** A candidate whose verdict says that it is to be claimed. */
export type Claimable = Candidate & {
  readonly verdict: Extract<Candidate['verdict'], { readonly kind: 'ready' | 'settle' }>;
};

/** Tells whether a candidate is to be claimed, as it was judged last. */
export function isClaimable(candidate: Candidate): candidate is Claimable {
  return candidate.verdict?.kind === 'ready' || candidate.verdict?.kind === 'settle';
}

/** What goes right before it in its run; undefined where it stands by itself. */
export function findPredecessor({ verdict }: Claimable): bigint | undefined {
  return verdict.kind === 'ready' ? verdict.follows : undefined;
}

export interface ClaimPorts {
  readonly queue: Pick<PendingQueue, 'dropClaimed'>;
  readonly gateway: Pick<RequestGateway, 'claim'>;
  readonly journal: Pick<Journal, 'begin' | 'judge' | 'move'>;
  readonly inFlight: Pick<InFlight, 'take' | 'drop' | 'note' | 'size'>;
  readonly candidates: Pick<Candidates, 'forget' | 'has'>;
  readonly budgets: Pick<Budgets, 'hold'>;
  readonly claimRate: ClaimRateController;
  readonly notes: Pick<ChainNotes, 'claimed' | 'inFlight' | 'claimShare' | 'fault'>;
  readonly now: () => number;
  /** Takes on what was won, or had no answer. */
  readonly advance: (requestIds: readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** What is not claimed, and may be claimed yet, is looked at again after this, in milliseconds. */
const UNCLAIMED_PAUSE_MS = 5000;

const isLost = (result: ClaimResult) => result === 'conflict' || result === 'refused';

/** Has a request looked at again soon: no page of the feed shows it a second time. */
export function leaveUnclaimed(record: RequestRecord, nowMs: number): JudgedRequest {
  return { record, verdict: { kind: 'leave', reason: 'unclaimed', recheckAtMs: nowMs + UNCLAIMED_PAUSE_MS }, nowMs };
}

function noteStanding({ inFlight }: ClaimPorts, { record: { requestId }, verdict }: Claimable): void {
  const isHopeless = verdict.kind === 'settle';
  const standing = isHopeless ? ({ kind: 'blocked', sinceMs: 0 } as const) : ({ ...verdict, kind: 'ready' } as const);
  inFlight.note(requestId, standing);
}

/** `checked` becomes `claiming`, on the disk before the gateway is asked, and then `claimed` or `lost`. */
async function claimBurst(ports: ClaimPorts, given: readonly Claimable[]): Promise<ReadonlyMap<string, ClaimResult>> {
  // As they are now: a block that comes while the gateway is asked has its signers judged anew.
  const burst = given.map((claimable) => ({ ...claimable }));
  const { gateway, journal, inFlight, candidates, notes, now } = ports;
  const by = 'claimRequests';
  const claimedAtMs = now();
  const requests = burst.map(({ record, verdict }) => ({
    requestId: record.requestId,
    record,
    signatures: verdict.signatures,
    gas: verdict.kind === 'ready' ? verdict.gas : undefined,
    claimedAtMs,
  }));
  try {
    journal.begin(requests, by);
  } catch (error) {
    // Nothing is at stake.
    for (const { requestId } of requests) inFlight.drop(requestId);
    throw error;
  }
  for (const request of requests) inFlight.take(request);
  const results = await gateway.claim(requests.map(({ requestId }) => requestId));
  const known = [...results].filter(([, result]) => result !== 'unknown');
  const nowMs = now();
  journal.move(
    known.map(([requestId, result]) => ({ requestId, to: result === 'won' ? 'claimed' : 'lost', by, nowMs })),
  );
  for (const claimable of burst) {
    const { requestId } = claimable.record;
    const result = results.get(requestId) ?? 'unknown';
    notes.claimed(result);
    candidates.forget(requestId);
    if (result === 'won') noteStanding(ports, claimable);
    if (isLost(result)) inFlight.drop(requestId);
  }
  const refused = burst.filter(({ record: { requestId } }) => results.get(requestId) === 'refused');
  journal.judge(refused.map(({ record }) => leaveUnclaimed(record, nowMs)));
  notes.inFlight(inFlight.size);
  return results;
}

const keyOf = (signer: string, nonce: bigint | undefined) => `${signer} ${nonce}`;

/** Leaves out what rivals have claimed since it was picked, and what would go right after it in its run. */
function createFreshness({ queue, claimRate, notes, signal }: ClaimPorts) {
  const gone = new Set<string>();
  /** @returns undefined where the gateway cannot tell */
  async function look(slice: readonly Claimable[]): Promise<ReadonlySet<Claimable> | undefined> {
    // Where there are no rivals, nobody has claimed anything since.
    if (claimRate.share === 1) return new Set(slice);
    try {
      return new Set(await queue.dropClaimed(slice));
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      if (!signal.aborted) notes.fault('gateway');
      return undefined;
    }
  }
  return async (slice: readonly Candidate[]): Promise<readonly Claimable[] | undefined> => {
    // What has changed since it was picked is picked anew; it may change while the gateway is asked, too.
    const pending = await look(slice.filter(isClaimable));
    if (pending === undefined) return undefined;
    return slice.filter(isClaimable).filter((claimable) => {
      const { signatures } = claimable.verdict;
      const follows = findPredecessor(claimable);
      const isOrphan = follows !== undefined && signatures.some(({ signer }) => gone.has(keyOf(signer, follows)));
      if (pending.has(claimable) && !isOrphan) return true;
      for (const { signer, nonce } of signatures) gone.add(keyOf(signer, nonce));
      return false;
    });
  };
}

/** Claims burst by burst. @param open - takes the ids of what is begun, and not lost */
async function claimBursts(ports: ClaimPorts, picked: readonly Claimable[], open: Set<string>): Promise<void> {
  const { claimRate, notes, signal } = ports;
  const keepPending = createFreshness(ports);
  for (let next = 0; next < picked.length && !signal.aborted; ) {
    const slice = picked.slice(next, next + claimRate.burst);
    next += slice.length;
    const pending = await keepPending(slice);
    if (pending === undefined) return;
    // The others wait until what is at stake has been settled.
    const burst = pending.filter(({ record: { requestId }, verdict }) => {
      if (verdict.kind === 'settle') return true;
      return ports.budgets.hold({ requestId, signatures: verdict.signatures }, verdict.stake);
    });
    if (burst.length === 0) continue;
    for (const { record } of burst) open.add(record.requestId);
    const results = [...(await claimBurst(ports, burst))];
    for (const [requestId, result] of results) if (isLost(result)) open.delete(requestId);
    const conflicts = results.filter(([, result]) => result === 'conflict').length;
    // A refusal tells nothing of rivals.
    const refusals = results.filter(([, result]) => result === 'refused').length;
    claimRate.learn({ won: burst.length - conflicts - refusals, conflicts });
    notes.claimShare(claimRate.share);
    if (conflicts + refusals > 0) return;
  }
}

/**
 * Claims requests in bursts, each of which is looked at again right before, and stops at the first burst in which a rival was faster:
 * then what is known of the queue is old. What was won, or had no answer, is taken on, whatever else fails.
 *
 * @param picked - `checked`, in random order
 */
export async function claimRequests(ports: ClaimPorts, picked: readonly Claimable[]): Promise<void> {
  const open = new Set<string>();
  try {
    await claimBursts(ports, picked, open);
  } finally {
    ports.advance([...open]);
  }
}
