import { type FaultKind, type FaultShares, shareFaults } from '@prism-gateway/testing';

/** What a gateway depends on, each behind a proxy of its own. */
export type Dependency = 'dynamodb' | 's3' | 'identity';

/** What befalls the calls to each dependency; where nothing is said, nothing does. */
export type Weather = Readonly<Partial<Record<Dependency, FaultShares>>>;

/** Share of all calls to a dependency that something befalls in a storm. */
const STORM_SHARE = 0.1;
/** The same in a hurricane: of seven tries, all fail once in fifty times. */
const HURRICANE_SHARE = 0.65;

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

const stormShares: FaultShares = {
  ...shareFaults(STORM_SHARE * 0.95, QUICK),
  ...shareFaults(STORM_SHARE * 0.05, SLOW),
};

/** One call in ten fails, in every way there is, to every dependency: what the gateway does again is hardly ever in vain. */
export const STORM: Weather = { dynamodb: stormShares, s3: stormShares, identity: stormShares };

/** Two calls of three to DynamoDB fail, so that often all tries of a call do: clients are left not knowing what was done. */
export const HURRICANE: Weather = { dynamodb: shareFaults(HURRICANE_SHARE, QUICK) };
