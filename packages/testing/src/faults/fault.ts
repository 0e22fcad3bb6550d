/** The faults of a call on its way, in the order in which shares are laid out. */
export const FAULT_KINDS = [
  /** It arrives late. */
  'delay',
  /** The line is cut before it arrives: nothing is done. */
  'cutBefore',
  /** The line is cut after all was done: no answer. */
  'cutAfter',
  /** The line is cut in the middle of the answer. */
  'cutInAnswer',
  /** All is done, and the answer stops in its middle. */
  'stallInAnswer',
  /** Nothing is done, and no answer ever comes. */
  'stallBefore',
  /** All is done, and no answer ever comes. */
  'stallAfter',
  /** Refused for being one too many. */
  'throttle',
  /** Refused with 500. */
  'serverError',
  /** All is done, and the answer is 500. */
  'serverErrorAfter',
  /** Refused with 503. */
  'unavailable',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** Share of all calls that a fault befalls, from 0 to 1 each and in sum. */
export type FaultShares = Readonly<Partial<Record<FaultKind, number>>>;

/** Divides a share evenly among some kinds of faults. */
export function shareFaults(share: number, kinds: readonly FaultKind[]): FaultShares {
  return Object.fromEntries(kinds.map((kind) => [kind, share / kinds.length]));
}
