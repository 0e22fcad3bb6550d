import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSqliteRig, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import type { RateLimitStore, Take } from '../../ports/rateLimitStore.ts';

const WINDOW = 30_000_000;
const KEY = 'reads:ip:192.0.2.1';

let rig: SqliteRig;
beforeEach(async () => {
  rig = await createSqliteRig();
});
afterEach(() => rig.dispose());

async function takeMany(store: RateLimitStore, times: number, fields: Partial<Take> = {}): Promise<void> {
  for (let i = 0; i < times; i++) await store.take({ key: KEY, window: WINDOW, elapsed: 0.5, limit: 1e9, ...fields });
}

test('hits that come while others are on their way to the file are neither lost nor doubled', async () => {
  const { rateLimits } = rig.open();
  let taken = 0;
  for (let round = 1; round <= 5; round++) {
    await takeMany(rateLimits, round);
    let isShared = false;
    const sharing = rateLimits.flush().then(() => {
      isShared = true;
    });
    taken += round;
    while (!isShared) {
      await takeMany(rateLimits, 1);
      taken++;
      await new Promise(setImmediate);
    }
    await sharing;
    expect(await rateLimits.peek(KEY, WINDOW)).toEqual({ current: taken, previous: 0 });
  }
  await rateLimits.flush();
  expect(await rig.open().rateLimits.peek(KEY, WINDOW)).toEqual({ current: taken, previous: 0 });
});

test('hits of two shares are all counted while the file is locked, and right after', async () => {
  const { rateLimits } = rig.open();
  await rateLimits.flush();
  const other = new DatabaseSync(rig.file);
  other.exec('BEGIN IMMEDIATE');
  await takeMany(rateLimits, 3);
  const sharing = rateLimits.flush();
  await takeMany(rateLimits, 4);
  // The next share is due after a tenth of a second.
  await sleep(200);
  expect(await rateLimits.peek(KEY, WINDOW)).toEqual({ current: 7, previous: 0 });
  other.exec('COMMIT');
  other.close();
  await sharing;
  expect(await rateLimits.peek(KEY, WINDOW)).toEqual({ current: 7, previous: 0 });
  await rateLimits.flush();
  expect(await rig.open().rateLimits.peek(KEY, WINDOW)).toEqual({ current: 7, previous: 0 });
});

test('a share that failed loosens no limit, in its window nor the next', async () => {
  const { rateLimits } = rig.open();
  const take = async (window: number) => {
    const { allowed } = await rateLimits.take({ key: KEY, window, elapsed: 0, limit: 10 });
    await rateLimits.flush();
    return allowed;
  };
  await rateLimits.flush();
  const other = new DatabaseSync(rig.file);
  const fail = "BEGIN SELECT RAISE(ABORT, 'full'); END";
  other.exec(`CREATE TRIGGER full BEFORE INSERT ON "${TEST_TABLES.rateLimits}" ${fail}`);
  await takeMany(rateLimits, 8, { limit: 10 });
  await expect(rateLimits.flush()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  other.exec('DROP TRIGGER full');
  expect([await take(WINDOW), await take(WINDOW), await take(WINDOW)]).toEqual([true, true, false]);
  expect(await take(WINDOW + 1)).toBe(false);
  // The next window's first hits are shared while half of this one's still count.
  await takeMany(rateLimits, 2, { window: WINDOW + 1, limit: 10 });
  await rateLimits.flush();
  expect(await rateLimits.peek(KEY, WINDOW + 1)).toEqual({ current: 2, previous: 10 });
  other.close();
});

test('counts of the window before outlive the first share of the next one, and a restart', async () => {
  await takeMany(rig.open().rateLimits, 7);
  await rig.close();
  await takeMany(rig.open().rateLimits, 1, { window: WINDOW + 1, key: 'reads:ip:192.0.2.2' });
  await rig.close();
  const { rateLimits } = rig.open();
  expect(await rateLimits.peek(KEY, WINDOW)).toEqual({ current: 7, previous: 0 });
  expect(await rateLimits.peek(KEY, WINDOW + 1)).toEqual({ current: 0, previous: 7 });
});

test('counts of older windows are removed from the file', async () => {
  await takeMany(rig.open().rateLimits, 7);
  await rig.close();
  await takeMany(rig.open().rateLimits, 1, { window: WINDOW + 2 });
  await rig.close();
  expect(await rig.open().rateLimits.peek(KEY, WINDOW)).toEqual({ current: 0, previous: 0 });
});

test('once a clock that was ahead is set back, its counts are removed, and older ones again as time goes on', async () => {
  const { rateLimits } = rig.open();
  const database = new DatabaseSync(rig.file);
  const windows = () => database.prepare(`SELECT window FROM "${TEST_TABLES.rateLimits}" ORDER BY window`).all();
  const shareIn = async (window: number) => {
    await takeMany(rateLimits, 1, { window, key: `reads:ip:client in ${window}` });
    await rateLimits.flush();
    return windows().map((row) => Number(row.window) - WINDOW);
  };
  expect(await shareIn(WINDOW + 1000)).toEqual([1000]);
  expect(await shareIn(WINDOW)).toEqual([0]);
  expect(await shareIn(WINDOW + 1)).toEqual([0, 1]);
  expect(await shareIn(WINDOW + 2)).toEqual([1, 2]);
  database.close();
});

test('the check of readiness, which shares no hits, removes no counts', async () => {
  const { rateLimits, checkReady } = rig.open();
  await takeMany(rateLimits, 3);
  await rateLimits.flush();
  await checkReady();
  expect(await rig.open().rateLimits.peek(KEY, WINDOW)).toEqual({ current: 3, previous: 0 });
});

test('a client that makes way for newer ones is remembered by the file', async () => {
  const { rateLimits } = rig.open();
  await takeMany(rateLimits, 5, { limit: 5 });
  // As many clients as are kept in memory come after it.
  for (let i = 0; i < 20_000; i++) await takeMany(rateLimits, 1, { key: `reads:ip:client ${i}` });
  await rateLimits.flush();
  expect(await rateLimits.take({ key: KEY, window: WINDOW, elapsed: 0.5, limit: 5 })).toEqual({
    allowed: false,
    counts: { current: 5, previous: 0 },
  });
});
