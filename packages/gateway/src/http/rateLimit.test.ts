import { createFakeClock, type FakeClock } from '@prism-gateway/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_LIMITS } from '../../test/rigs/noLimits.ts';
import { createSqliteRig, type SqliteRig } from '../../test/rigs/sqliteStores.ts';
import { ApiError } from './errors.ts';
import { createRateLimiter, type RateLimiter } from './rateLimit.ts';

/** The first millisecond of a window. */
const WINDOW_START = 1_800_000_000_000;
const WINDOW_MS = 60_000;

let rig: SqliteRig;
let clock: FakeClock;
let limiter: RateLimiter;
beforeEach(async () => {
  rig = await createSqliteRig();
  clock = createFakeClock(WINDOW_START);
  const limits = { ...NO_LIMITS, reads: 10, writes: 3, 'admin-failures': 1 };
  limiter = createRateLimiter(rig.open().rateLimits, limits, clock.now);
});
afterEach(() => rig.dispose());

/** @returns the refusal, or undefined if the hit was taken */
async function refusalOf(hit: () => unknown): Promise<ApiError | undefined> {
  try {
    await hit();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'RATE_LIMITED') return error;
    throw error;
  }
}

async function takeTimes(times: number, client = 'a'): Promise<void> {
  for (let i = 0; i < times; i++) await limiter.take('writes', { client });
}

test('a permit is refused to who is over the limit, and counts nothing', async () => {
  for (let i = 0; i < 10; i++) await limiter.acquire('writes', 'a');
  await takeTimes(2);
  expect(await refusalOf(() => limiter.acquire('writes', 'a'))).toBeUndefined();
  await takeTimes(1);
  expect(await refusalOf(() => limiter.acquire('writes', 'a'))).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
});

// Shows LIMIT-3.
test('a network of IPv6 addresses counts as a whole too, more generously, and one who is refused uses up nothing of it', async () => {
  await takeTimes(3, '2001:db8:1:0::/64');
  expect(await refusalOf(() => limiter.take('writes', { client: '2001:db8:1:0::/64', hits: 3 }))).toBeDefined();
  for (let i = 1; i < 16; i++) await takeTimes(3, `2001:db8:1:${i.toString(16)}::/64`);
  expect(await refusalOf(() => limiter.take('writes', { client: '2001:db8:1:99::/64' }))).toMatchObject({
    status: 429,
  });
  await takeTimes(1, '2001:db8:2:1::/64');
});

// Shows ADMIN-12.
test('the clients nearest to their limits are reported, as they stand now', async () => {
  await takeTimes(2, 'a');
  await takeTimes(3, 'fe80:0:0:0::/64');
  await limiter.take('reads', { client: 'relayer:0x1', hits: 7 });
  await limiter.take('sign', { client: 'a limit that is off' });
  expect(limiter.readUse().clients).toEqual([
    { limit: 'writes', client: 'fe80:0:0:0::/64', used: 3, most: 3 },
    { limit: 'reads', client: 'relayer:0x1', used: 7, most: 10 },
    { limit: 'writes', client: 'a', used: 2, most: 3 },
    { limit: 'writes', client: 'fe80:0:0::/48', used: 3, most: 48 },
  ]);
  clock.advance(1.5 * WINDOW_MS);
  await takeTimes(1, 'b');
  expect(limiter.readUse().clients).toEqual([
    { limit: 'writes', client: 'fe80:0:0:0::/64', used: 2, most: 3 },
    { limit: 'reads', client: 'relayer:0x1', used: 4, most: 10 },
    { limit: 'writes', client: 'a', used: 1, most: 3 },
    { limit: 'writes', client: 'b', used: 1, most: 3 },
    { limit: 'writes', client: 'fe80:0:0::/48', used: 2, most: 48 },
  ]);
  clock.advance(WINDOW_MS);
  expect(limiter.readUse().clients).toEqual([{ limit: 'writes', client: 'b', used: 1, most: 3 }]);
});

test('of many clients only the twenty nearest are reported', async () => {
  for (let i = 0; i < 1200; i++) await limiter.take('reads', { client: `c${i}`, hits: i === 3 || i === 1150 ? 9 : 1 });
  const { clients } = limiter.readUse();
  expect(clients).toHaveLength(20);
  expect(clients.slice(0, 3).map(({ used }) => used)).toEqual([9, 9, 1]);
});

test('refusals are reported by limit, of the last minute and of the last hour', async () => {
  const refuse = () => refusalOf(() => limiter.take('writes', { client: 'a' }));
  expect(limiter.readUse().refusals).toEqual([]);
  await takeTimes(3);
  for (let i = 0; i < 8; i++) await refuse();
  await limiter.take('admin-failures', { client: 'a' });
  await refusalOf(() => limiter.acquire('admin-failures', 'a'));
  expect(limiter.readUse().refusals).toEqual([
    { limit: 'writes', lastMinute: 8, lastHour: 8 },
    { limit: 'admin-failures', lastMinute: 1, lastHour: 1 },
  ]);
  clock.advance(1.5 * WINDOW_MS);
  await takeTimes(1);
  await refuse();
  expect(limiter.readUse().refusals[0]).toEqual({ limit: 'writes', lastMinute: 5, lastHour: 9 });
  clock.advance(59 * WINDOW_MS);
  expect(limiter.readUse().refusals).toEqual([{ limit: 'writes', lastMinute: 0, lastHour: 1 }]);
  clock.advance(60 * WINDOW_MS);
  expect(limiter.readUse().refusals).toEqual([]);
});

// Shows LIMIT-8.
test('a refused hit is not counted', async () => {
  await takeTimes(3);
  for (let i = 0; i < 50; i++) await refusalOf(() => limiter.take('writes', { client: 'a' }));
  clock.advance(2 * WINDOW_MS);
  expect(await refusalOf(() => limiter.take('writes', { client: 'a' }))).toBeUndefined();
});

// Shows LIMIT-7.
test('the window slides: the last one counts by the share of it that is still covered', async () => {
  await takeTimes(3);
  // Two thirds of the last window count: two hits. A third fits only when they are no more than two.
  clock.advance(WINDOW_MS + 20_000 - 1);
  expect(await refusalOf(() => limiter.take('writes', { client: 'a' }))).toBeDefined();
  clock.advance(1);
  expect(await refusalOf(() => limiter.take('writes', { client: 'a' }))).toBeUndefined();
  expect(await refusalOf(() => limiter.take('writes', { client: 'a' }))).toBeDefined();
});

describe('Retry-After', () => {
  test('of a limit of one is the time until the hit is out of the window for good', async () => {
    await limiter.take('admin-failures', { client: 'a' });
    const refusal = await refusalOf(() => limiter.take('admin-failures', { client: 'a' }));
    const ratelimit = '"admin-failures";r=0;t=120';
    expect(refusal?.headers).toMatchObject({ 'retry-after': '120', ratelimit });
    expect(refusal?.message).toBe('Too many failed admin calls; try again in 120 s.');
  });

  test('is exact: at that second a hit is taken, and a second before it is refused', async () => {
    // Whole seconds too: there the borders are met exactly.
    const pause = fc.oneof(
      fc.nat(45_000),
      fc.nat(45).map((seconds) => seconds * 1000),
    );
    const step = fc.tuple(pause, fc.integer({ min: 1, max: 12 }));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.uuid(), async (steps, client) => {
        clock.advance(WINDOW_MS - (clock.now() % WINDOW_MS));
        let refusal: ApiError | undefined;
        for (const [ms, hits] of steps) {
          clock.advance(ms);
          for (let i = 0; i < hits; i++)
            refusal = (await refusalOf(() => limiter.take('reads', { client }))) ?? refusal;
          if (refusal !== undefined) break;
        }
        fc.pre(refusal !== undefined);
        const seconds = Number(refusal?.headers?.['retry-after']);
        clock.advance((seconds - 1) * 1000);
        expect(await refusalOf(() => limiter.take('reads', { client })), 'a second before').toBeDefined();
        clock.advance(1000);
        expect(await refusalOf(() => limiter.take('reads', { client })), 'at the second').toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});

// Shows LIMIT-17.
test('a batch counts each of its own, and passes once as many are free; more than the limit wait for all of it', async () => {
  const take = (hits: number) => limiter.take('reads', { client: 'a', hits });
  await take(8);
  const refusal = await refusalOf(() => take(5));
  expect(refusal?.headers?.ratelimit).toContain('"reads";r=0;');
  clock.advance(Number(refusal?.headers?.['retry-after']) * 1000);
  expect(await refusalOf(() => take(5))).toBeUndefined();
  clock.advance(2 * WINDOW_MS);
  expect(await refusalOf(() => take(1000))).toBeUndefined();
  expect(await refusalOf(() => take(1))).toBeDefined();
});
