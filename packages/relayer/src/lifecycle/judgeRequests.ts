import { setTimeout as pause } from 'node:timers/promises';
import { ChainError } from '../chain/chainError.ts';
import type { CheckRequests } from '../checks/checkRequests.ts';
import type { ProveSignatures } from '../checks/proveSignatures.ts';
import type { ScreenRequests } from '../checks/screenRequests.ts';
import type { Verdict } from '../checks/verdict.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { JudgedRequest } from '../journal/openJudgedTable.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { Candidate, Candidates, RequestCounts } from './createCandidates.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { NoteFailures } from './createJudgeWatch.ts';
import type { RefusalWatch } from './createRefusalWatch.ts';
import { createGapQuestion, type GapPorts, giveUpBlocked } from './giveUpBlocked.ts';
import { type DuePorts, listDue, listFirst, takeTurns } from './listDue.ts';
import type { RoundResult } from './pickClaims.ts';

/** Most requests that a round judges by what they say themselves: that costs no call, and no recovery. */
const MAX_SCREENED = 500;
/** Most nonces that are tried at a time for signatures that are far from their turn: a tenth of a second of work. */
const MAX_TRIES = 150;
/** Most of them for those who have paid before, the others of whom wait for it: one signature that nobody has made. */
const FEW_TRIES = 64;
/** Most signatures that are proven at a time: a fifth of a second of work. */
const MAX_PROOFS = 300;
/** Most requests that are judged together: what a node answers in a moment. */
const MAX_PROVEN = 100;
/** Fewer of those whose signer is not proven: who comes in the meantime waits for no more of them. */
const MAX_UNPROVEN = 25;
/** Pause before a request is looked at again whose check had no answer, in milliseconds. */
const UNJUDGED_PAUSE_MS = 2000;
/** Pause before the copy of a request is looked at again, in milliseconds: its signer's next success ends it, too. */
const COPY_PAUSE_MS = 30_000;

/** The strangers' requests that are judged beside the rounds: one lot at a time. */
interface StrangersTurn {
  /** Those that are being judged, by their ids; none between two turns. */
  requestIds: ReadonlySet<string>;
  /** Ends with that. It never rejects. */
  last: Promise<void>;
  /** Whether the last round had requests of others to judge, too. */
  isShared: boolean;
  /** What it ended by, until the next round tells. */
  fault: { readonly error: unknown } | undefined;
}

export interface JudgePorts extends GapPorts, DuePorts {
  readonly candidates: Pick<Candidates, 'judge'>;
  readonly journal: Pick<Journal, 'judge'>;
  readonly policy: Pick<RelayPolicy, 'giveUpMs'>;
  readonly counts: Pick<RequestCounts, 'current'>;
  readonly refusals: Pick<RefusalWatch, 'note'>;
  readonly screen: ScreenRequests;
  readonly check: CheckRequests;
  readonly prove: ProveSignatures;
  readonly inFlight: Pick<InFlight, 'carries' | 'run'>;
  readonly notes: Pick<ChainNotes, 'checked' | 'fault' | 'log' | 'requests'>;
  readonly strangers: StrangersTurn;
  /** Resolves as soon as something is new in the queue. */
  readonly news: () => Promise<void>;
  readonly wake: () => void;
  /** Told whether requests can be judged at all. */
  readonly noteFailures: NoteFailures;
  /** Told why nothing could be judged. @param reason - without URLs */
  readonly noteUnjudged: (reason: string) => void;
  /** Picks some of what was judged, and begins to claim it. @see pickClaims */
  readonly pickClaims: (seen: readonly Candidate[]) => Promise<RoundResult>;
}

/** What was found of a candidate. */
interface Judged {
  readonly candidate: Candidate;
  readonly verdict: Verdict;
}

/** What is written of a verdict: the journal is told only of what has changed. */
function summarise(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '';
  if (verdict.kind === 'ready') return 'ready';
  return `${verdict.kind} ${verdict.kind === 'leave' ? verdict.reason : ''} ${verdict.errorMessage}`;
}

/** `seen` becomes `checked` or `left`, with the verdict in memory and journal. What has been in the way for too long is given up. */
async function noteVerdicts(ports: JudgePorts, all: readonly Judged[]): Promise<void> {
  const { candidates, journal, notes, counts, refusals, now } = ports;
  const isGapAwaited = createGapQuestion(ports);
  const changed: JudgedRequest[] = [];
  for (const { candidate, verdict } of all) {
    const before = summarise(candidate.verdict);
    candidates.judge(candidate, verdict, now());
    const settled = await giveUpBlocked(ports, candidate, isGapAwaited);
    if (settled !== undefined) candidates.judge(candidate, settled, now());
    const judged = settled ?? verdict;
    notes.checked(judged.kind === 'leave' ? judged.reason : judged.kind);
    refusals.note(candidate.record.signer, judged);
    if (summarise(judged) !== before) changed.push({ record: candidate.record, verdict: judged, nowMs: now() });
  }
  journal.judge(changed);
  notes.requests(counts.current());
}

/** One request that cannot be judged holds no other one up, and is looked at again. */
function leaveUnjudged({ notes, now }: JudgePorts, { record }: Candidate, failure: Error): Verdict {
  notes.fault('judge');
  notes.log.warn({ requestId: record.requestId, reason: failure.message }, 'not judged');
  return { kind: 'leave', reason: 'unjudged', errorMessage: failure.message, recheckAtMs: now() + UNJUDGED_PAUSE_MS };
}

function leaveCopy(nowMs: number): Verdict {
  return { kind: 'leave', reason: 'duplicate', recheckAtMs: nowMs + COPY_PAUSE_MS };
}

/** @throws ChainError where what all checks go by cannot be read, as the Forwarder's policy: then nothing can be judged */
async function tellFaults<T>({ noteUnjudged }: JudgePorts, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ChainError) noteUnjudged(error.message);
    throw error;
  }
}

/** What is new and speaks against itself, by its time or its fee, waits for no other: whoever posts it makes nobody wait. */
async function screenNew(ports: JudgePorts, seen: readonly Candidate[], copies: ReadonlySet<Candidate>) {
  const { screen, now, strangers } = ports;
  const fresh = seen.filter(({ record, verdict }) => !verdict && !strangers.requestIds.has(record.requestId));
  // Of many the newest: what was posted a moment ago waits for no older junk.
  const screened = fresh.slice(-MAX_SCREENED);
  if (screened.length === 0) return;
  const verdicts = await tellFaults(ports, screen(screened.map(({ record }) => record)));
  const judged = screened.flatMap((candidate): Judged[] => {
    const verdict = copies.has(candidate) ? leaveCopy(now()) : verdicts.get(candidate.record.requestId);
    return verdict === undefined ? [] : [{ candidate, verdict }];
  });
  await noteVerdicts(ports, judged);
}

/** Judges some by asking the chain. */
async function judgeDue(
  ports: JudgePorts,
  due: readonly Candidate[],
  { copies, maxTries }: { readonly copies: ReadonlySet<Candidate>; readonly maxTries: number },
): Promise<void> {
  if (due.length === 0) return;
  const { check, noteFailures, now } = ports;
  const candidates = due.filter((candidate) => !copies.has(candidate));
  const { verdicts, failures } = await tellFaults(ports, check({ candidates, maxTries }));
  await noteFailures([...failures.values()]);
  const judged = due.flatMap((candidate): Judged[] => {
    const { requestId } = candidate.record;
    const failure = failures.get(requestId);
    if (copies.has(candidate)) return [{ candidate, verdict: leaveCopy(now()) }];
    if (failure !== undefined) return [{ candidate, verdict: leaveUnjudged(ports, candidate, failure) }];
    const verdict = verdicts.get(requestId);
    return verdict === undefined ? [] : [{ candidate, verdict }];
  });
  await noteVerdicts(ports, judged);
}

/** Whether the named signer's own key has signed it: as was told at first, or was found when it was judged, for a later nonce. */
function isKeys({ isProven, verdict, search }: Candidate): boolean {
  return isProven === true || (verdict !== undefined && search.signatures().every(({ nonce }) => nonce !== undefined));
}

/**
 * Chooses which of the strangers' requests are judged next, in lots. Those that the named signer's own key has signed come first: whoever posts
 * in names that are made up, or in contract wallets', which nobody can prove without asking the chain for each, delays none of them.
 */
async function chooseStrangers(
  { prove }: Pick<JudgePorts, 'prove'>,
  due: readonly Candidate[],
): Promise<readonly (readonly Candidate[])[]> {
  const unknown = takeTurns(
    due.filter(({ isProven }) => isProven === undefined),
    MAX_PROOFS,
  );
  const told = unknown.length === 0 ? undefined : await prove(unknown);
  for (const candidate of unknown) candidate.isProven = told?.get(candidate.record.requestId);
  const looked = due.filter(({ isProven }) => isProven !== undefined);
  const [proven, unproven] = [looked.filter(isKeys), looked.filter((candidate) => !isKeys(candidate))];
  const lots = [listFirst(proven, MAX_PROVEN), listFirst(unproven, MAX_UNPROVEN)];
  return lots.filter((lot) => lot.length > 0);
}

/** Judges strangers' requests: those that are proven before the others. */
async function judgeStrangers(ports: JudgePorts, due: readonly Candidate[], copies: ReadonlySet<Candidate>) {
  let before = performance.eventLoopUtilization();
  const lots = await tellFaults(ports, chooseStrangers(ports, due));
  ports.strangers.requestIds = new Set(lots.flat().map(({ record }) => record.requestId));
  for (const lot of lots) {
    await judgeDue(ports, lot, { copies, maxTries: MAX_TRIES });
    // Beside those who have paid before, of the processor's time half at most; a node that is slow takes none of it.
    if (ports.strangers.isShared) await pause(performance.eventLoopUtilization(before).active);
    before = performance.eventLoopUtilization();
  }
}

/** Begins to judge strangers' requests, unless others of theirs are being judged. */
function startStrangers(ports: JudgePorts, due: readonly Candidate[], copies: ReadonlySet<Candidate>): void {
  const { strangers, inFlight, wake } = ports;
  if (due.length === 0 || strangers.requestIds.size > 0) return;
  strangers.requestIds = new Set(due.map(({ record }) => record.requestId));
  strangers.last = judgeStrangers(ports, due, copies)
    .catch((error: unknown) => {
      strangers.fault = { error };
    })
    .finally(() => {
      strangers.requestIds = new Set();
      wake();
    });
  inFlight.run(strangers.last);
}

/**
 * Judges what is new and what is to be looked at again, and hands on all that was seen, with its verdicts, to have some of it claimed.
 * Strangers' requests are judged beside: whoever has paid before waits for none of them, and a round in which there is nobody else
 * ends as soon as something new comes.
 *
 * @see docs/specification.md RELAY-17
 * @throws ChainError, GatewayError where one of them does not answer
 */
export async function judgeRequests(ports: JudgePorts, seen: readonly Candidate[]): Promise<RoundResult> {
  const { strangers, news } = ports;
  const copies = findCopies(ports, seen);
  await screenNew(ports, seen, copies);
  const isFree = ({ record }: Candidate) => !strangers.requestIds.has(record.requestId);
  const due = listDue(ports, seen.filter(isFree));
  strangers.isShared = due.customers.length > 0;
  startStrangers(ports, due.strangers, copies);
  if (due.customers.length > 0) await judgeDue(ports, due.customers, { copies, maxTries: FEW_TRIES });
  else await Promise.race([strangers.last, news()]);
  const { fault } = strangers;
  strangers.fault = undefined;
  if (fault !== undefined) throw fault.error;
  return await ports.pickClaims(seen);
}

/**
 * Finds copies: of several that ask for the very same, one is judged, and the others follow it; so do those of what is under way.
 *
 * @returns those that are not to be judged
 */
function findCopies(
  { inFlight }: { readonly inFlight: Pick<InFlight, 'carries'> },
  seen: readonly Candidate[],
): ReadonlySet<Candidate> {
  const firsts = new Map<string, Candidate>();
  const isFollower = ({ verdict }: Candidate) => verdict?.kind === 'leave' && verdict.reason === 'duplicate';
  const copies = new Set<Candidate>();
  for (const candidate of seen) {
    const { fingerprint } = candidate;
    const first = firsts.get(fingerprint);
    if (inFlight.carries(fingerprint)) copies.add(candidate);
    else if (first === undefined) firsts.set(fingerprint, candidate);
    else if (isFollower(first) && !isFollower(candidate)) {
      copies.add(first);
      firsts.set(fingerprint, candidate);
    } else copies.add(candidate);
  }
  return copies;
}
