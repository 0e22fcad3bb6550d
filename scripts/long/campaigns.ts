const gateway = 'packages/gateway/test';
const relayer = 'packages/relayer/test';

/**
 * Tests that play many real processes against many faults, or each other, at once and by chance: `npm run test:campaigns` has them in
 * their small size, and `npm run test:long` in full. What each of them may meet, a test of `npm test` shows by plan.
 */
export const campaigns: readonly string[] = [
  'demo/test/demo.test.ts',
  `${gateway}/attacks/combined.test.ts`,
  `${gateway}/faults/storm.test.ts`,
  `${gateway}/kills/killLoop.test.ts`,
  `${gateway}/races/claimRace.test.ts`,
  `${gateway}/races/pagingRace.test.ts`,
  'packages/payments/test/randomRuns.test.ts',
  `${relayer}/hostile/hostile.test.ts`,
  `${relayer}/junk/junk.test.ts`,
  `${relayer}/storm/storm.test.ts`,
  `${relayer}/watchtower.test.ts`,
  'packages/sdk/test/storm.test.ts',
  'packages/sender/test/randomRuns.test.ts',
];
