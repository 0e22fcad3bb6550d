import type { RequestRecord } from '@prism-gateway/protocol';
import { createNonceSearch, type NonceSearch } from '../checks/createNonceSearch.ts';
import { carryWait, chooseRecheck, type Verdict, type Wait } from '../checks/leaveReasons.ts';
import type { EvaluatedRequest } from '../journal/openEvaluationTable.ts';
import type { Journal } from '../journal/openJournal.ts';
import { assertMove, hashRequest, type LifeState } from './states.ts';

/** A pending request as the relayer knows it. */
export interface Candidate {
  readonly record: RequestRecord;
  verdict: Verdict | undefined;
  /** When `verdict` was found; Unix milliseconds. */
  checkedAtMs: number;
  /** The reason for which it was left, and since when; after a restart, or once it was forgotten, the journal says. */
  wait: Wait | undefined;
  /** When what was left is looked at again; Unix milliseconds. */
  recheckAtMs: number;
  /** Whether the chain is to be asked whatever it says itself: for a transaction of its signer was mined since, or for it was long ago. */
  isTouched: boolean;
  /** Whether the named signer's own key has signed it; undefined: not asked yet. */
  isProven: boolean | undefined;
  readonly search: NonceSearch;
  /** Of what is asked for: the same in each duplicate of a request. */
  readonly fingerprint: string;
  lastSeenMs: number;
}

/** The pending requests that are known. */
export type Candidates = ReturnType<typeof createCandidates>;

/** A candidate whose verdict says that it is to be claimed. */
export type Claimable = Candidate & {
  readonly verdict: Extract<Candidate['verdict'], { readonly kind: 'ready' | 'hopeless' }>;
};

/** Whether this relayer may claim a request: the one place that does, by the verdict of a moment ago. */
export function isClaimable(candidate: Candidate): candidate is Claimable {
  return candidate.verdict?.kind === 'ready' || candidate.verdict?.kind === 'hopeless';
}

/** The nonce right before it in its run; undefined if it stands by itself. */
export function findPredecessor({ verdict }: Claimable): bigint | undefined {
  return verdict.kind === 'ready' ? verdict.follows : undefined;
}

/** How long a request is in memory before it is read again, in milliseconds: somebody may have claimed it. */
const STALE_MS = 120_000;
/** How old a verdict may be to be acted on, in milliseconds: nonces and prices move. */
const READY_FOR_MS = 3000;
/** Requests left for longer than this need not be kept in memory, in milliseconds. */
const LONG_MS = 60_000;

/** Requests left longer ago are past the Forwarder's maximal age, as it is by default, in milliseconds. */
const DAY_MS = 86_400_000;

/** Whether a candidate has to be looked at. */
export function isDue({ verdict, checkedAtMs, recheckAtMs }: Candidate, nowMs: number): boolean {
  if (verdict === undefined) return true;
  return verdict.kind === 'leave' ? recheckAtMs <= nowMs : nowMs - checkedAtMs > READY_FOR_MS;
}

/** Whether the search for its forwarder nonces has not come to its end yet. */
export function isUnsearched({ verdict }: Candidate): boolean {
  return isSearch(verdict);
}

const isSearch = (verdict: Verdict | undefined) => verdict?.kind === 'leave' && verdict.reason === 'nonceUnknown';

/** The entry of a verdict that was found for the first time. */
export function firstEvaluation(evaluated: Omit<EvaluatedRequest, 'sinceMs' | 'recheckAtMs'>): EvaluatedRequest {
  const { verdict, nowMs, wait } = evaluated;
  const recheckAtMs = chooseRecheck(verdict, { sinceMs: nowMs, nowMs, giveUpMs: 0 });
  return { ...evaluated, sinceMs: wait?.sinceMs ?? nowMs, recheckAtMs };
}

/** Has a request looked at again soon: no page of the feed shows it a second time. */
export function leaveUnclaimed(record: EvaluatedRequest['record'], nowMs: number): EvaluatedRequest {
  return firstEvaluation({ record, verdict: { kind: 'leave', reason: 'unclaimed' }, nowMs });
}

/** The part of a verdict that is journalled anew if it changes. */
function summarise(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '';
  if (verdict.kind === 'ready') return 'ready';
  return `${nameReason(verdict)} ${verdict.errorMessage}`;
}

function findWait({ wait }: Candidate, verdict: Verdict, nowMs: number): Wait | undefined {
  // As long as its nonce is searched for once more, nothing else is in its way.
  if (verdict.kind === 'leave') return (isSearch(verdict) && wait) || carryWait(wait, verdict, nowMs);
  return verdict.kind === 'hopeless' && verdict.isGivenUp ? wait : undefined;
}

function nameReason(verdict: Verdict | undefined): string {
  if (verdict === undefined) return 'seen';
  return verdict.kind === 'leave' ? verdict.reason : verdict.kind;
}

function stateOf(verdict: Verdict | undefined): LifeState {
  if (verdict === undefined) return 'seen';
  return verdict.kind === 'leave' ? 'left' : 'checked';
}

/** `seen` becomes `checked` or `left`; what was evaluated before is `seen` anew. */
function assertEvaluated({ record: { requestId }, verdict: last }: Candidate, verdict: Verdict): void {
  const by = 'evaluateRequests';
  if (last !== undefined) assertMove({ requestId, from: stateOf(last), to: 'seen', by });
  assertMove({ requestId, from: 'seen', to: stateOf(verdict), by });
}

/**
 * Makes an empty memory of candidates.
 *
 * @param options.giveUpMs - patience with what would revert, in milliseconds
 * @param options.nextBlockInMs - in how many milliseconds the chain's next block is expected; undefined: not known
 */
export function createCandidates(options: {
  readonly journal: Journal;
  readonly giveUpMs: number;
  readonly nextBlockInMs: () => number | undefined;
}) {
  const { journal, giveUpMs } = options;
  let written: Readonly<Record<string, number>> = {};
  const known = new Map<string, Candidate>();
  const bySigner = new Map<string, Set<string>>();
  const counts = new Map<string, number>();
  function count(verdict: Verdict | undefined, change: 1 | -1): void {
    const reason = nameReason(verdict);
    counts.set(reason, (counts.get(reason) ?? 0) + change);
  }
  function setVerdict(candidate: Candidate, verdict: Verdict | undefined): void {
    if (known.has(candidate.record.requestId)) {
      count(candidate.verdict, -1);
      count(verdict, 1);
    }
    candidate.verdict = verdict;
  }
  function remove(requestId: string): void {
    const candidate = known.get(requestId);
    if (candidate === undefined) return;
    const signer = candidate.record.signer.toLowerCase();
    count(candidate.verdict, -1);
    known.delete(requestId);
    const own = bySigner.get(signer);
    own?.delete(requestId);
    if (own?.size === 0) bySigner.delete(signer);
  }
  function forget(requestId: string): void {
    const gone = known.get(requestId);
    if (gone === undefined) return;
    remove(requestId);
    // A duplicate is of the same signer.
    const rest = [...(bySigner.get(gone.record.signer.toLowerCase()) ?? [])].map((id) => known.get(id));
    const next = rest.find(
      (other) => other?.fingerprint === gone.fingerprint && nameReason(other.verdict) === 'duplicate',
    );
    if (next !== undefined) setVerdict(next, undefined);
  }
  function remember(candidate: Candidate): void {
    const { requestId, signer } = candidate.record;
    // To the end: the map's order is that of the last sight.
    if (known.delete(requestId)) return void known.set(requestId, candidate);
    known.set(requestId, candidate);
    count(candidate.verdict, 1);
    const key = signer.toLowerCase();
    const own = bySigner.get(key);
    if (own === undefined) bySigner.set(key, new Set([requestId]));
    else own.add(requestId);
  }
  return {
    /** Notes what a page shows. @returns the candidates of the page, in its order */
    see(records: readonly RequestRecord[], nowMs: number): Candidate[] {
      const seen = records.map((record) => {
        const wait = known.has(record.requestId) ? undefined : journal.wait(record.requestId);
        const candidate = known.get(record.requestId) ?? {
          record,
          verdict: undefined,
          checkedAtMs: 0,
          wait,
          recheckAtMs: wait?.recheckAtMs ?? 0,
          isTouched: wait !== undefined && (wait.recheckAtMs ?? nowMs) <= nowMs,
          isProven: undefined,
          search: createNonceSearch(record),
          fingerprint: hashRequest(record),
          lastSeenMs: nowMs,
        };
        candidate.lastSeenMs = nowMs;
        remember(candidate);
        return candidate;
      });
      return seen;
    },
    /** @returns what the journal is to record; undefined if that knows it */
    recordVerdict(candidate: Candidate, verdict: Verdict, nowMs: number): EvaluatedRequest | undefined {
      assertEvaluated(candidate, verdict);
      const before = summarise(candidate.verdict);
      const waitedSinceMs = candidate.wait?.sinceMs;
      candidate.wait = findWait(candidate, verdict, nowMs);
      const sinceMs = candidate.wait?.sinceMs ?? nowMs;
      // Who claims it and gives it back again and again does not put off the look that it waits for.
      const isPlanned = sinceMs === waitedSinceMs && candidate.recheckAtMs > nowMs;
      const plannedMs = isPlanned ? candidate.recheckAtMs : Number.POSITIVE_INFINITY;
      setVerdict(candidate, verdict);
      candidate.checkedAtMs = nowMs;
      const times = { sinceMs, nowMs, giveUpMs, nextBlockInMs: options.nextBlockInMs() };
      candidate.recheckAtMs = candidate.isTouched ? nowMs : Math.min(plannedMs, chooseRecheck(verdict, times));
      candidate.isTouched = false;
      const { record, recheckAtMs, wait } = candidate;
      // Of what is due in any case the journal knows that it is.
      if (summarise(verdict) === before && recheckAtMs <= nowMs) return undefined;
      return { record, verdict, wait, sinceMs, recheckAtMs, nowMs };
    },
    /** How many are in memory, by `ready`, `hopeless`, why they were left, or `seen` if they have not been evaluated. */
    countReasons: (): ReadonlyMap<string, number> => counts,
    /** How many are known and not done with, in memory or by the journal as it was at the last `recount`. */
    countAll(): ReadonlyMap<string, number> {
      const all = new Map(counts);
      for (const [reason, count] of Object.entries(written)) all.set(reason, Math.max(all.get(reason) ?? 0, count));
      return all;
    },
    recount(nowMs: number): void {
      written = journal.view.countLeft(nowMs - DAY_MS);
    },
    /** All that are known, the last seen ones last. */
    list: (): readonly Candidate[] => [...known.values()],
    has: (requestId: string): boolean => known.has(requestId),
    get size() {
      return known.size;
    },
    /**
     * Forgets what need not be kept in memory, for the journal has it looked at again: what was seen long ago or waits for long, and beyond
     * `max` what waits for longest. What has not been evaluated, and what can be claimed, goes last.
     *
     * @param keep - writes down those that were not evaluated; if it throws, nothing is forgotten
     */
    shed(
      { max, nowMs }: { readonly max: number; readonly nowMs: number },
      keep: (unevaluated: readonly Candidate[]) => void,
    ): void {
      const waitMs = ({ verdict, recheckAtMs }: Candidate) => (verdict?.kind === 'leave' ? recheckAtMs - nowMs : -1);
      const all = [...known.values()];
      // The journal knows from which price of gas on a fee pays.
      const isLong = (candidate: Candidate) =>
        candidate.lastSeenMs <= nowMs - STALE_MS ||
        waitMs(candidate) > LONG_MS ||
        nameReason(candidate.verdict) === 'fee';
      const shed = all.filter(isLong);
      if (all.length - shed.length > max) {
        const rest = all.filter((candidate) => !isLong(candidate));
        shed.push(...rest.toSorted((a, b) => waitMs(b) - waitMs(a)).slice(0, rest.length - max));
      }
      keep(shed.filter(({ verdict }) => verdict === undefined));
      for (const { record } of shed) remove(record.requestId);
    },
    /** Takes back verdicts that could not be written down. */
    evaluateAnew(evaluated: readonly Candidate[]): void {
      for (const candidate of evaluated) setVerdict(candidate, undefined);
    },
    /** Lets a request go that was claimed, or is not pending any more: a duplicate that has waited for it is looked at at once. */
    forget,
    /** Moves all times: the clock was set by `byMs`. */
    shiftTimes(byMs: number): void {
      for (const candidate of known.values()) {
        candidate.checkedAtMs += byMs;
        candidate.recheckAtMs += byMs;
        candidate.lastSeenMs += byMs;
        if (candidate.wait !== undefined)
          candidate.wait = { ...candidate.wait, sinceMs: candidate.wait.sinceMs + byMs };
      }
    },
    /** Has the requests of a signer looked at again at once. @param signer - in lower case */
    touch(signer: string): void {
      for (const requestId of bySigner.get(signer) ?? []) {
        const candidate = known.get(requestId);
        if (candidate === undefined) continue;
        setVerdict(candidate, undefined);
        candidate.isTouched = true;
      }
      journal.touch(signer);
    },
  };
}
