import { isGatewayError } from '@prism-gateway/sdk';
import type { ClaimResult } from '../gateway/requestGateway.ts';
import { type Candidate, type Claimable, findPredecessor, isClaimable, leaveUnclaimed } from './candidates.ts';
import type { RelayerContext } from './context.ts';

const isLost = (result: ClaimResult) => result === 'conflict' || result === 'refused';

function recordStatus({ inFlight }: RelayerContext, { record: { requestId }, verdict }: Claimable): void {
  if (verdict.kind === 'hopeless') inFlight.note(requestId, { kind: 'blocked', sinceMs: 0, missing: verdict.gap });
  else inFlight.note(requestId, { ...verdict, kind: 'ready' });
}

/** `checked` becomes `claiming`, on the disk before the gateway is asked, and then `claimed` or `lost`. */
async function claimBurst(
  context: RelayerContext,
  given: readonly Claimable[],
): Promise<ReadonlyMap<string, ClaimResult>> {
  // As they are now: a block that comes while the gateway is asked has its signers evaluated anew.
  const burst = given.map((claimable) => ({ ...claimable }));
  const { gateway, journal, inFlight, events, now } = context;
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
    events.emit({ type: 'claim-answered', result });
    gateway.candidates.forget(requestId);
    if (result === 'won') recordStatus(context, claimable);
    if (isLost(result)) inFlight.drop(requestId);
  }
  const refused = burst.filter(({ record: { requestId } }) => results.get(requestId) === 'refused');
  journal.recordVerdicts(refused.map(({ record }) => leaveUnclaimed(record, nowMs)));
  events.emit({ type: 'in-flight-changed', requests: inFlight.size });
  return results;
}

const keyOf = (signer: string, nonce: bigint | undefined) => `${signer} ${nonce}`;

/** Leaves out what rivals have claimed since it was picked, and what would go right after it in its run. */
function createFreshness({ gateway, inFlight, events, signal }: RelayerContext) {
  const gone = new Set<string>();
  /** @returns undefined if the gateway does not know */
  async function look(slice: readonly Claimable[]): Promise<ReadonlySet<Claimable> | undefined> {
    // If there are no rivals, nobody has claimed anything since.
    if (inFlight.claimRate.share === 1) return new Set(slice);
    try {
      return new Set(await gateway.queue.dropClaimed(slice));
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      if (!signal.aborted) events.emit({ type: 'fault', where: 'gateway' });
      return undefined;
    }
  }
  return async (slice: readonly Candidate[]): Promise<readonly Claimable[] | undefined> => {
    // A request that has changed since it was picked is picked anew; it may change while the gateway is asked, too.
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
async function claimBursts(context: RelayerContext, picked: readonly Claimable[], open: Set<string>): Promise<void> {
  const { events, signal } = context;
  const { budgets, claimRate } = context.inFlight;
  const keepPending = createFreshness(context);
  for (let next = 0; next < picked.length && !signal.aborted; ) {
    const slice = picked.slice(next, next + claimRate.burst);
    next += slice.length;
    const pending = await keepPending(slice);
    if (pending === undefined) return;
    // The others wait until what is at stake has been settled.
    const burst = pending.filter(({ record: { requestId }, verdict }) => {
      if (verdict.kind === 'hopeless') return true;
      return budgets.hold({ requestId, signatures: verdict.signatures }, verdict.stake);
    });
    if (burst.length === 0) continue;
    for (const { record } of burst) open.add(record.requestId);
    const results = [...(await claimBurst(context, burst))];
    for (const [requestId, result] of results) if (isLost(result)) open.delete(requestId);
    const conflicts = results.filter(([, result]) => result === 'conflict').length;
    // A refusal says nothing of rivals.
    const refusals = results.filter(([, result]) => result === 'refused').length;
    claimRate.learn({ won: burst.length - conflicts - refusals, conflicts });
    events.emit({ type: 'claim-share-changed', share: claimRate.share });
    if (conflicts + refusals > 0) return;
  }
}

/**
 * Claims requests in bursts, each of which is looked at again right before, and stops at the first burst in which a rival was faster:
 * then what is known of the queue is old. What was won, or had no answer, is taken on, whatever else fails.
 *
 * @param picked - `checked`, in random order
 */
export async function claimRequests(context: RelayerContext, picked: readonly Claimable[]): Promise<void> {
  const open = new Set<string>();
  try {
    await claimBursts(context, picked, open);
  } finally {
    const { gateway, inFlight } = context;
    const isMoreToCome = inFlight.claimRate.isLearning && (gateway.candidates.countReasons().get('ready') ?? 0) > 0;
    gatherClaims(context, { requestIds: [...open], isMoreToCome });
  }
}

/** How long what was claimed waits for more, in milliseconds. */
const GATHER_MS = 1000;

/**
 * Takes on what was claimed, in few transactions. After a start a backlog is claimed in several bursts, for there may be rivals: sent burst
 * by burst, each write would cost nearly as much as alone.
 *
 * @param claimed.isMoreToCome - then it waits for that, but not for long
 */
function gatherClaims(
  { inFlight, advance }: RelayerContext,
  { requestIds, isMoreToCome }: { readonly requestIds: readonly string[]; readonly isMoreToCome: boolean },
): void {
  const { gathering } = inFlight;
  function flush(): void {
    clearTimeout(gathering.timer);
    gathering.timer = undefined;
    const all = gathering.requestIds;
    gathering.requestIds = [];
    if (all.length > 0) advance(all);
    gathering.held.resolve();
  }
  gathering.requestIds.push(...requestIds);
  if (!isMoreToCome || gathering.requestIds.length === 0) flush();
  else if (gathering.timer === undefined) {
    gathering.timer = setTimeout(flush, GATHER_MS);
    gathering.held = Promise.withResolvers();
    inFlight.run(gathering.held.promise);
  }
}
