/** Most claims that are asked for at once, at the start and at most. */
const FIRST_BURST = 2;
const MAX_BURST = 64;
/** Share of what could be claimed that is tried in the first round: whether there are rivals is not known yet. */
const FIRST_SHARE = 0.3;
/** Smallest share of what could be claimed that is tried in a round: one rival in fifty still gets its turn. */
const MIN_SHARE = 0.02;
/** Factors of burst and share after a conflict; of the burst also after one without a conflict. */
const ON_CONFLICT = { burst: 0.5, share: 0.5 };
const ON_CLEAN = { burst: 1.5, share: 1.1 };
/** Factor of the share after a round in which chance has picked nothing of what could be claimed. */
const ON_WAITING = 1.1;

/**
 * Makes the controller of how greedily a relayer claims: less after each conflict, more after each burst without one. Rivals see the same page: if all of them claimed all of it, each request would cost as many
 * conflicts as there are rivals. Additive increase would be too slow for a page of 100, so both directions multiply.
 */
export function createClaimRate() {
  let burst = FIRST_BURST;
  let share = FIRST_SHARE;
  let hasRivals = false;
  return {
    /** How many claims may be asked for at once. */
    get burst() {
      return Math.max(1, Math.floor(burst));
    },
    /** The part of what could be claimed that is tried in a round, from 0 to 1. */
    get share() {
      return share;
    },
    /** Whether nothing is known of rivals yet, as after a start: what waits is claimed in several bursts, though it could be in one. */
    get isLearning() {
      return !hasRivals && share < 1;
    },
    /** Notes what came of a burst. */
    learn({ won, conflicts }: { readonly won: number; readonly conflicts: number }): void {
      if (won + conflicts === 0) return;
      hasRivals ||= conflicts > 0;
      const change = conflicts > 0 ? ON_CONFLICT : ON_CLEAN;
      burst = Math.min(MAX_BURST, Math.max(1, burst * change.burst));
      share = Math.min(1, Math.max(MIN_SHARE, share * change.share));
    },
    /** Notes that something could be claimed, and chance has picked nothing: what waits must not wait long if there are no rivals. */
    recordWaiting(): void {
      share = Math.min(1, share * ON_WAITING);
    },
  };
}

/**
 * Picks some of a list at random, each as likely as any other.
 *
 * @param from.list - what to pick from; left as it is
 * @param from.count - how many; a fraction is one more with that chance
 * @param from.random - from 0 to 1
 * @returns in random order
 */
export function pickAtRandom<T>(from: {
  readonly list: readonly T[];
  readonly count: number;
  readonly random: () => number;
}): T[] {
  const { list, count, random } = from;
  const whole = Math.floor(count) + (random() < count - Math.floor(count) ? 1 : 0);
  const rest = [...list];
  const picked: T[] = [];
  while (picked.length < whole && rest.length > 0) {
    const [one] = rest.splice(Math.floor(random() * rest.length), 1);
    // The index is within the list.
    picked.push(one as T);
  }
  return picked;
}
