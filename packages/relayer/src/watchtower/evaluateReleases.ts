import type { Finding } from './finding.ts';
import type { SeenHead } from './journal/openSeenChain.ts';
import type { Releases, WatchJournal } from './journal/openWatchJournal.ts';

/** Over how long releases are counted, in seconds. */
export const WINDOW_SECONDS = 3600n;
/** Separate minutes of it in which something has to have been given back: one rise of the gas price, or one stop, gives back all at once. */
const LEAST_RELEASES = 15;
/** Or claims have to have been held idle until they were given back or lost: who is gone once loses all within a lease and a quarter. */
const LEAST_IDLE = 30;

/**
 * Finds relayers that keep requests from others and never work: that in fifteen separate minutes of the last hour gave claims back, or in
 * thirty, or two leases if that is more, held idle what they then gave back or lost; and without one execution of theirs in that hour. So nobody
 * holds a request a lease at a time, alone or by turns with another one. A relayer that works, or gives back what has become too dear, is not
 * found.
 *
 * @param look.head - the newest block
 * @returns one finding for each
 * @see docs/specification.md WATCH-1
 */
export function evaluateReleases(
  journal: Pick<WatchJournal, 'listReleases' | 'forgetReleases'>,
  { head, leaseSeconds }: { readonly head: Pick<SeenHead, 'number' | 'seconds'>; readonly leaseSeconds: bigint },
): readonly Finding[] {
  const since = head.seconds - WINDOW_SECONDS;
  const leastIdle = Math.max(LEAST_IDLE, (2 * Number(leaseSeconds)) / 60);
  const isIdle = ({ minutes, releaseMinutes, hasExecuted }: Releases) =>
    !hasExecuted && (releaseMinutes >= LEAST_RELEASES || minutes >= leastIdle);
  journal.forgetReleases({ beforeSeconds: since });
  return journal
    .listReleases(since)
    .filter(isIdle)
    .map(({ relayer, requestId, minutes, released }) => {
      const text = `In ${minutes} separate minutes of the last hour it held claims idle or gave them back, ${released} in all, and carried nothing out.`;
      return { requestId, kind: 'idleRelease', relayer, text, txHash: undefined, block: head.number };
    });
}
