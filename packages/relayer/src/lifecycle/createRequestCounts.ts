import type { LeaveReason } from '../checks/verdict.ts';
import type { JournalView } from '../journal/createJournalView.ts';
import type { Candidates } from './createCandidates.ts';

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

/**
 * Makes the counts of what requests wait for: of those in memory, and of those that the journal alone knows.
 *
 * @param ports - memory, journal and clock
 */
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
