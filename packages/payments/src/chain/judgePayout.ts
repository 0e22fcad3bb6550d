import type { Address, Hex } from 'viem';
import type { MarkTable, PlacedMark } from '../journal/createMarkTable.ts';
import { announcementOf } from './marks.ts';

/**
 * May this instance broadcast a payout?
 *
 * - `yes`: nobody else has announced the payment after this instance did, and nobody has paid it
 * - `never`: somebody has; whatever is signed for it must not reach a node
 * - `later`: this instance's own announcement is not on the chain (any more, or yet), or has not stood long enough over another's
 */
export type FenceVerdict = 'yes' | 'never' | 'later';

function isSame(one: Address, other: Address): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function isAfter(one: PlacedMark, other: PlacedMark): boolean {
  if (one.blockNumber !== other.blockNumber) return one.blockNumber > other.blockNumber;
  return one.txIndex > other.txIndex;
}

/** Where the marks of a payment stand, and who this instance is. */
export interface Judged {
  readonly marks: MarkTable;
  readonly self: Address;
  /** Of the payout. */
  readonly mark: Hex;
}

/**
 * Tells whether a payout is on the chain: by another instance, or by this one on another account nonce, where a reorganisation has freed
 * the one of before.
 *
 * @param judged - table and payment
 * @returns whether the payment is paid
 */
export function isPaid({ marks, mark }: Pick<Judged, 'marks' | 'mark'>): boolean {
  return marks.find(mark).some(({ kind }) => kind === 'payout');
}

/**
 * Judges by what has been found on the chain.
 *
 * @param judged - table, payment, and whose payout it would be
 * @returns the verdict
 */
export function judgePayout({ marks, self, mark }: Judged): FenceVerdict {
  if (isPaid({ marks, mark })) return 'never';
  const announcements = marks.find(announcementOf(mark));
  const own = announcements.findLast(({ sender }) => isSame(sender, self));
  if (own === undefined) return 'later';
  const isOvertaken = announcements.some((other) => !isSame(other.sender, self) && isAfter(other, own));
  return isOvertaken ? 'never' : 'yes';
}

/**
 * Tells whether another instance has announced a payment.
 *
 * @param judged - table, payment, and who this instance is
 * @returns whether one has, before or after this instance
 */
export function isContested({ marks, self, mark }: Judged): boolean {
  return marks.find(announcementOf(mark)).some(({ sender }) => !isSame(sender, self));
}

/** Knows how long announcements have stood in their places. */
export interface Standing {
  /**
   * Whether this instance's announcement, the last one, has stood long enough for whoever announced before to have paid. A reorganisation may
   * put announcements in another order: then the time begins anew.
   */
  hasStood(judged: Judged): boolean;
}

/**
 * Creates the memory of where announcements stand; it counts from when it was asked first.
 *
 * @param options - how long is long enough, and a clock that never goes back, in milliseconds
 * @returns the memory
 */
export function createStanding(options: { readonly standMs: number; readonly monotonicNow: () => number }): Standing {
  const places = new Map<Hex, { readonly place: string; readonly sinceMs: number }>();
  return {
    hasStood(judged) {
      const { marks, mark } = judged;
      const own = marks.find(announcementOf(mark)).at(-1);
      if (own === undefined || !isContested(judged)) return true;
      const place = `${own.txHash} ${own.blockNumber} ${own.txIndex}`;
      const known = places.get(mark);
      if (known?.place === place) return options.monotonicNow() - known.sinceMs >= options.standMs;
      places.set(mark, { place, sinceMs: options.monotonicNow() });
      return false;
    },
  };
}
