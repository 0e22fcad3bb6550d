import { type FaultKind, type FaultShares, shareFaults } from '@prism-gateway/testing';

/** Share of all calls to a dependency that something befalls. */
export const FAULT_SHARE = 0.1;

/** Those that are over at once. */
const QUICK: readonly FaultKind[] = [
  'delay',
  'cutBefore',
  'cutAfter',
  'cutInAnswer',
  'throttle',
  'serverError',
  'serverErrorAfter',
  'unavailable',
];

/** Those that hold a caller up until its patience ends, a second and more. */
const SLOW: readonly FaultKind[] = ['stallBefore', 'stallAfter', 'stallInAnswer'];

/** What befalls the calls to each dependency while the storm lasts: every kind of fault, one call in ten. */
export const STORM_SHARES: FaultShares = {
  ...shareFaults(FAULT_SHARE * 0.95, QUICK),
  ...shareFaults(FAULT_SHARE * 0.05, SLOW),
};
