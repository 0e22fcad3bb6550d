import type { Candidate } from './createCandidates.ts';
import type { InFlight } from './createInFlight.ts';

/**
 * Finds copies: of several that ask for the very same, one is judged, and the others follow it; so do those of what is under way.
 *
 * @param ports - what is under way
 * @param seen - pending requests
 * @returns those that are not to be judged
 */
export function findCopies(
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
