import type { Claim } from '../ports/requestStore.ts';

/** A claim that stands. */
export interface CurrentClaim {
  readonly claimedBy?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly claimedAt?: number | undefined;
}

/** Whether two addresses are one relayer's. */
export const isSameRelayer = (one: string | null | undefined, other: string): boolean =>
  one?.toLowerCase() === other.toLowerCase();

/** Whether a claim has lapsed for the relayer that claims now; for its own owner only after one more lease. */
export function hasLapsed({ claimedBy, claimedAt = 0 }: CurrentClaim, claim: Claim): boolean {
  const { relayer, leaseExpiredAt, ownLeaseExpiredAt = leaseExpiredAt } = claim;
  const limit = isSameRelayer(claimedBy, relayer) ? ownLeaseExpiredAt : leaseExpiredAt;
  return limit !== undefined && claimedAt <= limit;
}

/** Whether the relayer has held a request, renewed or claimed again, for as long as it may. @param heldSince - milliseconds since the epoch */
export const isHeldTooLong = (heldSince: number, { firstClaimedAfter = Number.NEGATIVE_INFINITY }: Claim): boolean =>
  heldSince <= firstClaimedAfter;

/** Whether a relayer that has given a request back holds on if it claims it again. @param releasedAt - milliseconds since the epoch */
export const holdsOn = (releasedAt: number, { leaseExpiredAt = Number.POSITIVE_INFINITY }: Claim): boolean =>
  releasedAt > leaseExpiredAt;

/** Whether a claim of a batch renews the one that stands. */
export const isRenewable = (
  { claimedBy, claimedAt = 0, heldSince }: CurrentClaim & { readonly heldSince: number },
  claim: Claim,
): boolean =>
  isSameRelayer(claimedBy, claim.relayer) &&
  claimedAt > (claim.leaseExpiredAt ?? Number.NEGATIVE_INFINITY) &&
  !isHeldTooLong(heldSince, claim);
