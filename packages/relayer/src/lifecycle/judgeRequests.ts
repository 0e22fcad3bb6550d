import { ChainError } from '../chain/chainError.ts';
import type { CheckRequests } from '../checks/checkRequests.ts';
import type { Verdict } from '../checks/verdict.ts';
import type { JudgedRequest } from '../journal/judged.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import { type Candidate, type Candidates, isDue } from './createCandidates.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { NoteFailures } from './createJudgeWatch.ts';
import { createGapQuestion, type GapPorts, giveUpBlocked } from './giveUpBlocked.ts';
import type { RoundResult } from './pickClaims.ts';

/** Most requests that one round checks: what a node answers in a moment. */
const MAX_CHECKS = 200;
/** Most of them that were judged before. */
const MAX_RECHECKS = 100;
/** Most of strangers' requests that a round checks in which there are those of signers that have paid before. */
const MAX_STRANGERS = 25;
/** Most of theirs else: a customer's request that comes meanwhile waits for them. */
const MAX_STRANGERS_ALONE = 100;
/** Most nonces that one round tries for signatures that are far from their turn: a tenth of a second of work. */
const MAX_TRIES = 150;
/** Most of them while those wait who have paid before: one signature that nobody has made. */
const FEW_TRIES = 64;
/** Pause before a request is looked at again whose check had no answer, in milliseconds. */
const UNJUDGED_PAUSE_MS = 2000;
/** Pause before the copy of a request is looked at again, in milliseconds: its signer's next success ends it, too. */
const COPY_PAUSE_MS = 30_000;

/** What judging goes through. */
export interface JudgePorts extends GapPorts {
  readonly check: CheckRequests;
  readonly candidates: Pick<Candidates, 'judge' | 'countReasons'>;
  readonly journal: Pick<Journal, 'judge'>;
  readonly inFlight: Pick<InFlight, 'carries'>;
  readonly policy: Pick<RelayPolicy, 'giveUpMs'>;
  readonly notes: Pick<ChainNotes, 'checked' | 'fault' | 'log' | 'requests'>;
  /** Whether a signer has paid for a transaction of this relayer before. */
  readonly isCustomer: (signer: string) => boolean;
  /** Told whether requests can be judged at all. */
  readonly noteFailures: NoteFailures;
  /** Told why nothing could be judged. @param reason - without URLs */
  readonly noteUnjudged: (reason: string) => void;
  /** Picks some of what was judged, and begins to claim it. @see pickClaims */
  readonly pickClaims: (seen: readonly Candidate[]) => Promise<RoundResult>;
  readonly now: () => number;
}

/** Takes one of each signer in turn, the newest first: what is posted in one name, by whomever, holds no other one up. */
function takeTurns(candidates: readonly Candidate[], count: number): Candidate[] {
  const bySigner = Map.groupBy(candidates, ({ record }) => record.signer.toLowerCase());
  const taken: Candidate[] = [];
  for (let stacks = [...bySigner.values()]; stacks.length > 0 && taken.length < count; ) {
    for (const stack of stacks) taken.push(...stack.splice(-1));
    stacks = stacks.filter((stack) => stack.length > 0);
  }
  return taken.slice(0, count);
}

/** What was never judged comes first: what was left, and is looked at again, would keep the rest from ever being looked at. */
function listFirst(due: readonly Candidate[], count: number): Candidate[] {
  const fresh = takeTurns(
    due.filter(({ verdict }) => verdict === undefined),
    count,
  );
  const again = due.filter(({ verdict }) => verdict !== undefined);
  return [...fresh, ...takeTurns(again, Math.min(MAX_RECHECKS, count - fresh.length))];
}

/** Whoever has paid before waits for no more strangers than can be judged in a moment, however many of them there are. */
function listDue({ isCustomer, now }: JudgePorts, seen: readonly Candidate[]): Candidate[] {
  const nowMs = now();
  const due = seen.filter((candidate) => isDue(candidate, nowMs));
  const known = new Map<string, boolean>();
  const isKnown = ({ record: { signer } }: Candidate) => {
    const isPaying = known.get(signer) ?? isCustomer(signer);
    known.set(signer, isPaying);
    return isPaying;
  };
  const customers = listFirst(due.filter(isKnown), MAX_CHECKS);
  const most = customers.length === 0 ? MAX_STRANGERS_ALONE : Math.min(MAX_STRANGERS, MAX_CHECKS - customers.length);
  const strangers = due.filter((candidate) => !isKnown(candidate));
  return [...customers, ...listFirst(strangers, most)];
}

/** Of several copies of a request, one is judged; the others follow it. @returns those that are not to be judged */
function findCopies(seen: readonly Candidate[], { inFlight }: JudgePorts): ReadonlySet<Candidate> {
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

/** One request that cannot be judged holds no other one up, and is looked at again. */
function leaveUnjudged({ notes, now }: JudgePorts, { record }: Candidate, failure: Error): Verdict {
  notes.fault('judge');
  notes.log.warn({ requestId: record.requestId, reason: failure.message }, 'not judged');
  return { kind: 'leave', reason: 'unjudged', errorMessage: failure.message, recheckAtMs: now() + UNJUDGED_PAUSE_MS };
}

function leaveCopy(nowMs: number): Verdict {
  return { kind: 'leave', reason: 'duplicate', recheckAtMs: nowMs + COPY_PAUSE_MS };
}

/** What is written of a verdict: the journal is told only of what has changed. */
function summarise(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '';
  if (verdict.kind === 'ready') return 'ready';
  return `${verdict.kind} ${verdict.kind === 'leave' ? verdict.reason : ''} ${verdict.errorMessage}`;
}

/** @throws ChainError where what all checks go by cannot be read, as the Forwarder's policy: then nothing can be judged */
async function checkAll({ check, noteUnjudged, isCustomer }: JudgePorts, candidates: readonly Candidate[]) {
  const hasCustomers = candidates.some(({ record }) => isCustomer(record.signer));
  try {
    return await check({ candidates, maxTries: hasCustomers ? FEW_TRIES : MAX_TRIES });
  } catch (error) {
    if (error instanceof ChainError) noteUnjudged(error.message);
    throw error;
  }
}

/** `seen` becomes `checked` or `left`, with the verdict in memory and journal. */
async function judgeDue(ports: JudgePorts, seen: readonly Candidate[]): Promise<void> {
  const { candidates, journal, notes, noteFailures, now } = ports;
  const due = listDue(ports, seen);
  if (due.length === 0) return;
  const copies = findCopies(seen, ports);
  const candidatesToCheck = due.filter((candidate) => !copies.has(candidate));
  const { verdicts, failures } = await checkAll(ports, candidatesToCheck);
  await noteFailures([...failures.values()]);
  const isGapAwaited = createGapQuestion(ports);
  const changed: JudgedRequest[] = [];
  for (const candidate of due) {
    const { requestId } = candidate.record;
    const failure = failures.get(requestId);
    const verdict = copies.has(candidate)
      ? leaveCopy(now())
      : failure === undefined
        ? verdicts.get(requestId)
        : leaveUnjudged(ports, candidate, failure);
    if (verdict === undefined) continue;
    const before = summarise(candidate.verdict);
    candidates.judge(candidate, verdict, now());
    const settled = await giveUpBlocked(ports, candidate, isGapAwaited);
    if (settled !== undefined) candidates.judge(candidate, settled, now());
    const judged = settled ?? verdict;
    notes.checked(judged.kind === 'leave' ? judged.reason : judged.kind);
    if (summarise(judged) !== before) changed.push({ record: candidate.record, verdict: judged, nowMs: now() });
  }
  journal.judge(changed);
  notes.requests(candidates.countReasons());
}

/**
 * Judges what is new and what is to be looked at again, and hands on all that was seen, with its verdicts, to have some of it claimed.
 *
 * @param ports - checks, memory and journal
 * @param seen - pending requests
 * @throws ChainError, GatewayError where one of them does not answer
 */
export async function judgeRequests(ports: JudgePorts, seen: readonly Candidate[]): Promise<RoundResult> {
  await judgeDue(ports, seen);
  return await ports.pickClaims(seen);
}
