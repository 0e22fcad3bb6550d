/** Most claims that are asked for at once, at the start and at most. */
const FIRST_BURST = 2;
const MAX_BURST = 64;
/** Share of what could be claimed that is tried in the first round: whether there are rivals is not known yet. */
const FIRST_SHARE = 0.3;
/** Smallest share of what could be claimed that is tried in a round: one rival in fifty still gets its turn. */
const MIN_SHARE = 0.02;
/** What a conflict makes of burst and share, and what a burst without one does. */
const ON_CONFLICT = { burst: 0.5, share: 0.5 };
const ON_CLEAN = { burst: 1.5, share: 1.1 };
/** What a round makes of the share in which chance has picked nothing of what could be claimed. */
const ON_WAITING = 1.1;

/** How greedily a relayer claims: less after each conflict with a rival, more after each burst without one. */
export interface ClaimRateController {
  /** How many claims may be asked for at once. */
  readonly burst: number;
  /** The part of what could be claimed that is tried in a round, from 0 to 1. */
  readonly share: number;
  /** Notes what came of a burst. */
  learn(result: { readonly won: number; readonly conflicts: number }): void;
  /** Notes that something could be claimed, and chance has picked nothing: what waits must not wait long where there are no rivals. */
  noteWaiting(): void;
}

/**
 * Makes the controller of claiming. Rivals see the same page: if all of them claimed all of it, each request would cost as many
 * conflicts as there are rivals. Additive increase would be too slow for a page of 100, so both directions multiply.
 */
export function createClaimRateController(): ClaimRateController {
  let burst = FIRST_BURST;
  let share = FIRST_SHARE;
  return {
    get burst() {
      return Math.max(1, Math.floor(burst));
    },
    get share() {
      return share;
    },
    learn({ won, conflicts }) {
      if (won + conflicts === 0) return;
      const change = conflicts > 0 ? ON_CONFLICT : ON_CLEAN;
      burst = Math.min(MAX_BURST, Math.max(1, burst * change.burst));
      share = Math.min(1, Math.max(MIN_SHARE, share * change.share));
    },
    noteWaiting() {
      share = Math.min(1, share * ON_WAITING);
    },
  };
}
