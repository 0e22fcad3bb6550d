import type { RequestRecord } from '@prism-gateway/protocol';
import { createNonceSearch, type NonceSearch } from '../checks/createNonceSearch.ts';
import type { LeaveReason, Verdict } from '../checks/verdict.ts';
import type { JournalView } from '../journal/createJournalView.ts';
import { assertMove, type LifeState } from './lifecycle.ts';
import { takeFingerprint } from './openRequest.ts';

/** A pending request as the relayer knows it. */
export interface Candidate {
  readonly record: RequestRecord;
  verdict: Verdict | undefined;
  /** When `verdict` was found; Unix milliseconds. */
  checkedAtMs: number;
  /** Since when it would revert, or is out of order; Unix milliseconds. */
  blockedSinceMs: number | undefined;
  /** The forwarder nonce that no open request had when the gateway was last asked for one. */
  missingNonce: bigint | undefined;
  /** Whether the named signer's own key has signed it; undefined: not asked yet. */
  isProven: boolean | undefined;
  readonly search: NonceSearch;
  /** Of what is asked for: the same in each copy of a request. */
  readonly fingerprint: string;
  lastSeenMs: number;
}

/** The pending requests that are known. */
export interface Candidates {
  /** Notes what a page shows. @returns the candidates of the page, in its order */
  see(records: readonly RequestRecord[], nowMs: number): Candidate[];
  judge(candidate: Candidate, verdict: Verdict, nowMs: number): void;
  /** How many are known, by `ready`, `settle`, why they were left, or `seen` where they have not been judged. */
  countReasons(): ReadonlyMap<string, number>;
  /** Lets a request go that was claimed, or is not pending any more: a copy that has waited for it is looked at at once. */
  forget(requestId: string): void;
  /** All that are known, the last seen ones last. */
  list(): readonly Candidate[];
  has(requestId: string): boolean;
  readonly size: number;
  /**
   * Forgets what need not be kept in memory: what is left for long, and beyond a bound what is left for longest.
   *
   * @param bound.max - most that stay; what has not been judged, and what can be claimed, goes last
   * @returns those that were forgotten
   */
  shed(bound: { readonly max: number; readonly nowMs: number }): readonly Candidate[];
  /** Whether a request was left when it was judged last: it is of no use before it is judged otherwise. */
  isLeft(requestId: string): boolean;
  /** Has the requests of a signer looked at again at once. @param signer - in lower case */
  touch(signer: string): void;
}

/** How long a request that no page shows any more is remembered, in milliseconds, and how many at most. */
const FORGET_AFTER_MS = 120_000;
const MAX_CANDIDATES = 20_000;
/** How old a verdict may be to be acted on, in milliseconds: nonces and prices move. */
const READY_FOR_MS = 3000;
/** Pause between two looks at what is blocked: half of the time it has been, but at most so many milliseconds. */
const PAUSE_SHARE = 0.5;
/** What is left for longer than this need not be kept in memory, in milliseconds. */
const LONG_MS = 60_000;
const LONGEST_PAUSE_MS = 10_000;

/** Tells whether a candidate has to be looked at. */
export function isDue({ verdict, checkedAtMs }: Candidate, nowMs: number): boolean {
  if (verdict === undefined) return true;
  return verdict.kind === 'leave' ? verdict.recheckAtMs <= nowMs : nowMs - checkedAtMs > READY_FOR_MS;
}

/** Patience begins anew whenever it is something else that is in the way: another reason, or another nonce on the chain. */
function blockedSince({ verdict: last, blockedSinceMs }: Candidate, next: Verdict, nowMs: number): number | undefined {
  if (next.kind !== 'leave' || (next.reason !== 'reverts' && next.reason !== 'nonceAhead')) return undefined;
  const isSame = last?.kind === 'leave' && last.errorMessage === next.errorMessage;
  return isSame ? (blockedSinceMs ?? nowMs) : nowMs;
}

/** The longer something has been in the way, the longer it is until the next look. */
function slowDown(verdict: Verdict, blockedSinceMs: number | undefined, nowMs: number): Verdict {
  if (verdict.kind !== 'leave' || blockedSinceMs === undefined) return verdict;
  const pauseMs = Math.min(LONGEST_PAUSE_MS, (nowMs - blockedSinceMs) * PAUSE_SHARE);
  return { ...verdict, recheckAtMs: Math.max(verdict.recheckAtMs, nowMs + pauseMs) };
}

function nameReason(verdict: Verdict | undefined): string {
  if (verdict === undefined) return 'seen';
  return verdict.kind === 'leave' ? verdict.reason : verdict.kind;
}

function stateOf(verdict: Verdict | undefined): LifeState {
  if (verdict === undefined) return 'seen';
  return verdict.kind === 'leave' ? 'left' : 'checked';
}

/** `seen` becomes `checked` or `left`; what was judged before is `seen` anew. */
function assertJudged({ record: { requestId }, verdict: last }: Candidate, verdict: Verdict): void {
  const by = 'judgeRequests';
  if (last !== undefined) assertMove({ requestId, from: stateOf(last), to: 'seen', by });
  assertMove({ requestId, from: 'seen', to: stateOf(verdict), by });
}

/** Makes an empty memory of candidates. */
export function createCandidates(): Candidates {
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
    // A copy is of the same signer.
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
  function prune(nowMs: number): void {
    for (const [requestId, { lastSeenMs }] of known) {
      if (known.size <= MAX_CANDIDATES && lastSeenMs > nowMs - FORGET_AFTER_MS) return;
      remove(requestId);
    }
  }
  return {
    see(records, nowMs) {
      const seen = records.map((record) => {
        const candidate = known.get(record.requestId) ?? {
          record,
          verdict: undefined,
          checkedAtMs: 0,
          blockedSinceMs: undefined,
          missingNonce: undefined,
          isProven: undefined,
          search: createNonceSearch(record),
          fingerprint: takeFingerprint(record),
          lastSeenMs: nowMs,
        };
        candidate.lastSeenMs = nowMs;
        remember(candidate);
        return candidate;
      });
      prune(nowMs);
      return seen;
    },
    judge(candidate, verdict, nowMs) {
      assertJudged(candidate, verdict);
      candidate.blockedSinceMs = blockedSince(candidate, verdict, nowMs);
      setVerdict(candidate, slowDown(verdict, candidate.blockedSinceMs, nowMs));
      candidate.checkedAtMs = nowMs;
    },
    countReasons: () => counts,
    list: () => [...known.values()],
    has: (requestId) => known.has(requestId),
    get size() {
      return known.size;
    },
    shed({ max, nowMs }) {
      const waitMs = ({ verdict }: Candidate) => (verdict?.kind === 'leave' ? verdict.recheckAtMs - nowMs : -1);
      const all = [...known.values()];
      // The journal knows from which price of gas on a fee pays.
      const isLong = (candidate: Candidate) => waitMs(candidate) > LONG_MS || nameReason(candidate.verdict) === 'fee';
      const shed = all.filter(isLong);
      if (all.length - shed.length > max) {
        const rest = all.filter((candidate) => !isLong(candidate));
        shed.push(...rest.toSorted((a, b) => waitMs(b) - waitMs(a)).slice(0, rest.length - max));
      }
      for (const { record } of shed) remove(record.requestId);
      return shed;
    },
    isLeft: (requestId) => known.get(requestId)?.verdict?.kind === 'leave',
    forget,
    touch(signer) {
      for (const requestId of bySigner.get(signer) ?? []) {
        const candidate = known.get(requestId);
        if (candidate === undefined) continue;
        setVerdict(candidate, undefined);
        candidate.blockedSinceMs = undefined;
      }
    },
  };
}

/** What is left for these is not kept in memory: it waits for other prices or settings, and the journal knows it. */
const FORGOTTEN: readonly LeaveReason[] = ['fee', 'action', 'sponsor', 'wallet', 'budget'];
/** What was left longer ago is past the Forwarder's maximal age, as it is by default, in milliseconds. */
const DAY_MS = 86_400_000;

/** Counts requests that are known and not done with, by what they wait for. */
export interface RequestCounts {
  /** Counts anew what only the journal knows. */
  refresh(): void;
  current(): ReadonlyMap<string, number>;
}

/** Makes the counts of what requests wait for: of those in memory, and of those that the journal alone knows. */
export function createRequestCounts(ports: {
  readonly candidates: Pick<Candidates, 'countReasons'>;
  readonly view: Pick<JournalView, 'countLeft'>;
  readonly now: () => number;
}): RequestCounts {
  const { candidates, view, now } = ports;
  let written: Readonly<Record<string, number>> = {};
  return {
    refresh() {
      written = view.countLeft(now() - DAY_MS);
    },
    current() {
      const counts = new Map(candidates.countReasons());
      for (const reason of FORGOTTEN) counts.set(reason, Math.max(counts.get(reason) ?? 0, written[reason] ?? 0));
      return counts;
    },
  };
}
