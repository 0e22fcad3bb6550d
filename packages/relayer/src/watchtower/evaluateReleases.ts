import type { Finding } from './finding.ts';
import type { SeenHead } from './journal/openSeenChain.ts';
import type { Releases, WatchJournal } from './journal/openWatchJournal.ts';

/** Over how long releases are counted, in seconds. */
export const WINDOW_SECONDS = 3600n;
/** In so many separate minutes of it something has to have been given back: one rise of the gas price, or one stop, gives back all at once. */
const MINUTES = 15;

/** Whether a relayer has carried out nothing at all while it gave claims back, again and again. */
function isIdle({ minutes, hasExecuted }: Releases): boolean {
  return minutes >= MINUTES && !hasExecuted;
}

/**
 * Finds relayers that keep requests from others by claiming and giving back, and never work: in fifteen separate minutes of the last hour or
 * more, and without one execution of theirs in that hour. A relayer that works, or gives back what has become too dear, is not found.
 *
 * @param head - the newest block
 * @returns one finding for each
 * @see docs/specification.md WATCH-1
 */
export function evaluateReleases(
  journal: Pick<WatchJournal, 'listReleases' | 'forgetReleases'>,
  head: Pick<SeenHead, 'number' | 'seconds'>,
): readonly Finding[] {
  const since = head.seconds - WINDOW_SECONDS;
  journal.forgetReleases({ beforeSeconds: since });
  return journal
    .listReleases(since)
    .filter(isIdle)
    .map(({ relayer, requestId, minutes, released }) => {
      const text = `In ${minutes} separate minutes of the last hour it gave back ${released} claims, and carried nothing out.`;
      return { requestId, kind: 'idleRelease', relayer, text, txHash: undefined, block: head.number };
    });
}
