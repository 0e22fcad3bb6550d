import type { AdminStore } from '../ports/adminStore.ts';

/** How long a sight of a relayer stands for those after it, in milliseconds: each is a write. */
const SEEN_MS = 60_000;

/**
 * Makes the note of when relayers were seen last: at their last authenticated call, whatever it was, within a minute. What cannot be
 * stored now is with the next call.
 *
 * @returns notes that a whitelisted relayer has called
 * @see docs/specification.md ADMIN-8
 */
export function createLastSeen({
  admin,
  now,
}: {
  readonly admin: Pick<AdminStore, 'recordSeen'>;
  readonly now: () => number;
}) {
  // No more than the whitelist has.
  const seen = new Map<string, number>();
  return function recordSeen(address: string): void {
    const key = address.toLowerCase();
    const at = now();
    // A clock that was set back by more does not silence it.
    if (Math.abs(at - (seen.get(key) ?? Number.NEGATIVE_INFINITY)) < SEEN_MS) return;
    seen.set(key, at);
    admin.recordSeen(address, at).catch(() => seen.delete(key));
  };
}
