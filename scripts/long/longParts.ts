/** Tests that have a full size, gathered so that a part takes some minutes on two cores. */
export interface LongPart {
  readonly name: string;
  /** Test files, from the repository's root. */
  readonly files: readonly string[];
}

const gateway = 'packages/gateway';

/** What one run of CI takes one of; all of them together are most of `npm run test:long`. */
export const longParts: readonly LongPart[] = [
  { name: 'fuzz', files: [`${gateway}/test/fuzz/calls.test.ts`, `${gateway}/test/fuzz/rawBytes.test.ts`] },
  {
    name: 'kills',
    files: [
      `${gateway}/test/kills/killLoop.test.ts`,
      `${gateway}/test/backup/backup.test.ts`,
      `${gateway}/test/process/webhooks.test.ts`,
      `${gateway}/src/drivers/dynamodb/stream/startStreamFollower.test.ts`,
      `${gateway}/src/drivers/sqlite/copyDatabase.test.ts`,
    ],
  },
  { name: 'races', files: [`${gateway}/test/races`, `${gateway}/test/process/manyWaits.test.ts`] },
  { name: 'attacks', files: [`${gateway}/test/attacks/combined.test.ts`] },
  {
    name: 'properties',
    files: [
      `${gateway}/src/openapi/schemas/createSchemas.property.test.ts`,
      `${gateway}/src/drivers/sqlite/requestStore.property.test.ts`,
      `${gateway}/src/drivers/sqlite/adminStore.test.ts`,
      'packages/contracts/test/invariants.test.ts',
      'packages/contracts/test/generatedSources.test.ts',
    ],
  },
  { name: 'contracts', files: ['packages/contracts/test/campaign.test.ts'] },
  {
    name: 'dynamodb',
    files: [
      ...['faults', 'feedRequests', 'listRequests', 'largeParams', 'units', 'requestStore.property'],
      'adminStore',
    ].map((name) => `${gateway}/src/drivers/dynamodb/${name}.test.ts`),
  },
  {
    name: 'faults',
    files: ['storm', 'lostWrites', 'outages'].map((name) => `${gateway}/test/faults/${name}.test.ts`),
  },
  {
    name: 'function',
    files: [
      `${gateway}/test/lambda/differential.test.ts`,
      'packages/sdk/test/storm.test.ts',
      'packages/sdk/test/nameFlood.test.ts',
    ],
  },
  {
    name: 'sender',
    files: [
      'packages/sender/test/crashMatrix.test.ts',
      'packages/sender/test/rpcFaults.test.ts',
      'packages/payments/test/commands.test.ts',
    ],
  },
  {
    name: 'payments',
    files: ['packages/payments/test/fullDisk.test.ts', 'packages/payments/test/movedFolder.test.ts'],
  },
  {
    name: 'relayer',
    files: ['storm/storm', 'sharedKey', 'wrongSettings'].map((name) => `packages/relayer/test/${name}.test.ts`),
  },
  { name: 'hostile', files: ['packages/relayer/test/hostile/hostile.test.ts'] },
  { name: 'watchtower', files: ['packages/relayer/test/watchtower.test.ts'] },
  {
    name: 'demo',
    files: [
      ...['demo/test/demo.test.ts', 'bin/usage.test.ts', 'acceptance/settings/admin.test.ts'],
      ...[`${gateway}/test/process/start.test.ts`, `${gateway}/src/entry/secrets.test.ts`],
    ],
  },
];

/** Full sizes that take up to an hour each, which is too long for a run of CI: `npm run test:long` alone has them. */
export const longerThanCi: readonly string[] = [
  'packages/payments/test/crashMatrix.test.ts',
  'packages/payments/test/operatorMatrix.test.ts',
  'packages/payments/test/randomRuns.test.ts',
  'packages/sender/test/randomRuns.test.ts',
  'packages/relayer/test/junk/junk.test.ts',
];
