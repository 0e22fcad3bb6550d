import { once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as checkPhase } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { createSqliteRig, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import { prepareCountHits } from './accessWrites.ts';
import { newRequestOf } from './createWrite.ts';
import { openDatabase } from './openDatabase.ts';
import type { SqliteStores } from './openSqliteStores.ts';
import { prepareRequestWrites } from './requestWrites.ts';
import { prepareSharedWrites } from './sharedWrites.ts';
import { quoteTables } from './tables.ts';

const record = pendingRequest();
const [KEY, WINDOW] = ['reads:ip:192.0.2.1', 30_000_000];

let rig: SqliteRig;
let stores: SqliteStores;
let other: DatabaseSync;
beforeEach(async () => {
  rig = await createSqliteRig();
  stores = rig.open();
  other = openDatabase(rig.file);
});
afterEach(async () => {
  other.close();
  await rig.dispose();
});

/** Commits one of everything, as another process would. */
function commitElsewhere(): void {
  const tables = quoteTables(TEST_TABLES);
  const { writes, counters } = prepareRequestWrites(other, tables, Date.now);
  const { putRelayer } = prepareSharedWrites(other, tables);
  const countHits = prepareCountHits(other, tables);
  other.exec('BEGIN IMMEDIATE');
  writes.create(newRequestOf(record, undefined));
  putRelayer({ address: record.signer, now: 1 });
  countHits([{ key: KEY, window: WINDOW, hits: 3 }]);
  counters.save();
  other.exec('COMMIT');
}

/** Goes on where a call arrives: where the event loop looks for input next. */
async function arrive(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const arrived = once(port2, 'message');
  port1.postMessage('a call');
  await arrived;
  port1.close();
}

test.each<[string, (stores: SqliteStores) => unknown, unknown]>([
  ['a record', ({ requests }) => requests.get(record.requestId), record],
  [
    'a page',
    ({ requests }) => requests.list({ filter: { status: 'pending' }, order: 'asc', limit: 10 }),
    { items: [record], next: null },
  ],
  ['the statistics', ({ requests }) => requests.stats(), { oldestPendingAt: record.createdAt }],
  ['a relayer', ({ relayers }) => relayers.find(record.signer), { address: record.signer }],
  ['the whitelist', ({ relayers }) => relayers.list(), [{ address: record.signer }]],
  ['the use of a limit', ({ rateLimits }) => rateLimits.peek(KEY, WINDOW), { current: 3 }],
])(
  'a call that arrives after a commit of another process finds %s, whatever was read just before',
  async (_, read, expected) => {
    // The signature of a lone relayer is recovered in an immediate, and the whitelist read there.
    await checkPhase();
    await stores.relayers.find('0x');
    commitElsewhere();
    await arrive();
    expect({ found: await read(stores) }).toMatchObject({ found: expected });
  },
);
