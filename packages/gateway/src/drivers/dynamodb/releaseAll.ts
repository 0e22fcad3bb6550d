import { randomUUID } from 'node:crypto';
import type { Release, ReleaseAll, Transition } from '../../ports/requestStore.ts';
import type { OpenClaims } from './openClaims.ts';

/** Releases under way at once: few, so that the work of others goes on. */
const SLICE = 8;

/**
 * Gives back what a relayer holds, as the index shows it now. A claim of the last second may not be in it yet: who has ended a relayer's
 * access asks until nothing is left, and once more.
 *
 * @param act.release - gives one claim back
 * @returns how many; as many as the limit where there may be more
 * @throws DependencyUnavailableError
 */
export async function releaseAll(
  openClaims: OpenClaims,
  { relayer, now, limit }: ReleaseAll,
  release: (release: Release) => Promise<Transition>,
): Promise<number> {
  const claims = [...(await openClaims.read(0)).values()];
  const held = claims.filter((claim) => claim.relayer.toLowerCase() === relayer.toLowerCase());
  const releaseId = randomUUID();
  let count = 0;
  for (let at = 0; at < held.length && count < limit; ) {
    const slice = held.slice(at, at + Math.min(SLICE, limit - count));
    at += slice.length;
    const transitions = await Promise.all(
      slice.map((claim) => release({ requestId: claim.requestId, relayer: claim.relayer, releaseId, now })),
    );
    count += transitions.filter(({ outcome }) => outcome === 'moved').length;
  }
  return count;
}
