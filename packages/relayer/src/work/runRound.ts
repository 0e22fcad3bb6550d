import type { RequestRecord } from '@prism-gateway/protocol';
import { checkRequests } from '../checks/checkRequests.ts';
import type { OpenRequest } from '../life/openRequest.ts';
import { type Candidate, isDue } from '../queue/candidates.ts';
import type { PendingQueue } from '../queue/listPending.ts';
import { pickAtRandom } from '../queue/pickAtRandom.ts';
import type { Relay } from '../relay.ts';
import { type Claimable, claimRequests } from './claimRequests.ts';
import { createGapQuestion, losePatience } from './losePatience.ts';
import { resumeClaim } from './resumeRequests.ts';
import { type FreshClaim, settleClaims, workOnClaims } from './workOnClaims.ts';

/** Most requests that one round checks: what a node answers in a moment. */
const MAX_CHECKS = 200;
/** Most nonces that one round tries for signatures that are not in their turn: a fifth of a second of work. */
const MAX_TRIES = 2000;
/** Gas that a request is taken to need as long as it is not known, for what the ether suffices for. */
const TYPICAL_GAS = 400_000n;
/** A page older than this when the checks are done is read again where there are rivals, in milliseconds. */
const STALE_PAGE_MS = 15;

/** How many more requests the relayer can submit: what its limit, and its ether, leave. */
async function countRoom({ desk, settings, state, metrics }: Relay): Promise<number> {
  const room = settings.maxInFlight - desk.size;
  if (room <= 0) return 0;
  const [balance, { gasReserve }] = await Promise.all([state.balance(), state.head()]);
  // A gauge is a float.
  metrics.balance.set({ chain: settings.chainName }, Number(balance) / 1e18);
  const prices = [gasReserve, settings.maxFeePerGas].toSorted((a, b) => (a < b ? -1 : 1));
  const affordable = balance / (prices[0] || 1n) - desk.reservedGas();
  return affordable <= 0n ? 0 : Math.min(room, Number(affordable / TYPICAL_GAS));
}

/** What was never judged comes first: what was left stands at the head, and would keep the rest from ever being looked at. */
function listDue(seen: readonly Candidate[], nowMs: number): Candidate[] {
  const due = seen.filter((candidate) => isDue(candidate, nowMs));
  const fresh = due.filter(({ verdict }) => verdict === undefined);
  return [...fresh, ...due.filter(({ verdict }) => verdict !== undefined)].slice(0, MAX_CHECKS);
}

async function checkDue(relay: Relay, seen: readonly Candidate[]): Promise<void> {
  const { now, candidates, metrics, settings } = relay;
  const due = listDue(seen, now());
  if (due.length === 0) return;
  const verdicts = await checkRequests(relay, { candidates: due, maxTries: MAX_TRIES });
  const isAwaited = createGapQuestion(relay);
  for (const candidate of due) {
    const verdict = verdicts.get(candidate.record.requestId);
    if (verdict === undefined) continue;
    candidates.judge(candidate, verdict, now());
    await losePatience(relay, candidate, isAwaited);
    const judged = candidate.verdict ?? verdict;
    metrics.checks.inc({
      chain: settings.chainName,
      verdict: judged.kind === 'leave' ? judged.reason : judged.kind,
    });
  }
}

function isUnsearched({ verdict }: Candidate): boolean {
  return verdict?.kind === 'leave' && verdict.reason === 'nonceUnknown';
}

function isClaimable(candidate: Candidate): candidate is Claimable {
  return candidate.verdict?.kind === 'ready' || candidate.verdict?.kind === 'settle';
}

/** One request a signer: the next one is in order only after it. */
function listClaimable({ desk, now }: Relay, seen: readonly Candidate[]): Claimable[] {
  const signers = new Set<string>();
  return seen.filter((candidate): candidate is Claimable => {
    if (!isClaimable(candidate) || isDue(candidate, now()) || desk.has(candidate.record.requestId)) return false;
    const own = candidate.verdict.wishes.map(({ signer }) => signer);
    if (own.some((signer) => signers.has(signer) || desk.isBusy(signer))) return false;
    for (const signer of own) signers.add(signer);
    return true;
  });
}

/** Hands what was won to work that goes on beside the rounds. */
function startWork(relay: Relay, won: readonly Claimable[], unknown: readonly string[]): void {
  const { journal, desk } = relay;
  const fresh: FreshClaim[] = [];
  const hopeless: OpenRequest[] = [];
  for (const { record, verdict } of won) {
    const request = journal.get(record.requestId);
    if (request === undefined) continue;
    if (verdict.kind === 'ready') fresh.push({ request, feeWei: verdict.feeWei });
    else hopeless.push(request);
  }
  if (fresh.length > 0) desk.run(workOnClaims(relay, fresh));
  if (hopeless.length > 0) desk.run(settleClaims(relay, hopeless));
  for (const requestId of unknown) desk.run(resumeClaim(relay, requestId));
}

/** Claims what was picked, and starts the work on what was won. */
async function claimAndWork(relay: Relay, picked: readonly Claimable[]): Promise<void> {
  const { won, unknown } = await claimRequests(relay, picked);
  startWork(relay, won, unknown);
}

/** One claiming at a time; the next look and its checks go on beside it. */
export interface ClaimTurn {
  /** Ends with the claiming under way. */
  last: Promise<void>;
}

/** `claiming`: claims are under way; `waiting`: some could be claimed, or were not judged to the end; `idle`: there is nothing to do. */
export type RoundResult = 'claiming' | 'waiting' | 'idle';

/** Where there are rivals, a page that was read a while ago shows what they have claimed since. */
async function dropClaimed(
  relay: Relay,
  queue: PendingQueue,
  view: { readonly claimable: readonly Claimable[]; readonly readAtMs: number },
) {
  const { claimable, readAtMs } = view;
  if (claimable.length === 0 || relay.pace.share === 1 || relay.now() - readAtMs <= STALE_PAGE_MS) return claimable;
  const isPending = await queue.review(claimable.length);
  return claimable.filter(({ record }) => isPending(record));
}

/**
 * Looks at the queue once: reads the head, checks what is new, and begins to claim some of what pays.
 *
 * @param relay - the relayer on this chain
 * @param queue - the chain's pending requests
 * @param turn - of claiming, shared by all rounds
 * @throws GatewayError, ChainError where one of them does not answer
 */
export async function runRound(relay: Relay, queue: PendingQueue, turn: ClaimTurn): Promise<RoundResult> {
  const { candidates, desk, pace, random, now } = relay;
  const isUseful = ({ requestId }: RequestRecord) => !desk.has(requestId) && !candidates.isLeft(requestId);
  const wanted = await countRoom(relay);
  if (wanted === 0) return 'idle';
  const records = await queue.look(wanted, isUseful);
  const readAtMs = now();
  const seen = candidates.see(
    records.filter(({ requestId }) => !desk.has(requestId)),
    readAtMs,
  );
  await checkDue(relay, seen);
  await turn.last;
  const claimable = await dropClaimed(relay, queue, { claimable: listClaimable(relay, seen), readAtMs });
  // The claims of the round before have taken their room meanwhile.
  const count = Math.min(await countRoom(relay), claimable.length * pace.share);
  const picked = pickAtRandom({ list: claimable, count, random });
  if (picked.length === 0 && claimable.length > 0) pace.noteWaiting();
  if (picked.length > 0) {
    turn.last = claimAndWork(relay, picked);
    desk.run(turn.last);
    turn.last = turn.last.catch(() => undefined);
  }
  if (picked.length > 0) return 'claiming';
  return claimable.length > 0 || seen.some(isUnsearched) ? 'waiting' : 'idle';
}
