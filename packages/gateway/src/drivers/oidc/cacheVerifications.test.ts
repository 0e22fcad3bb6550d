import { createFakeClock, type FakeClock } from '@prism-gateway/testing';
import { beforeEach, expect, test } from 'vitest';
import { TokenRejectedError } from '../../ports/errors.ts';
import type { VerifiedUser } from '../../ports/tokenVerifier.ts';
import { cacheVerifications } from './cacheVerifications.ts';

let clock: FakeClock;
let asked: string[];
beforeEach(() => {
  clock = createFakeClock();
  asked = [];
});

const HOUR_MS = 3_600_000;

function cacheOf(options: { lifetimeMs?: number; maxAgeMs?: number } = {}) {
  const { lifetimeMs = HOUR_MS, maxAgeMs } = options;
  const endsAtMs = clock.now() + lifetimeMs;
  const verify = async (token: string): Promise<VerifiedUser> => {
    asked.push(token);
    if (token.startsWith('bad')) throw new TokenRejectedError('bad');
    return { issuer: 'i', userId: token, expiresAtMs: endsAtMs };
  };
  return cacheVerifications({ verify, now: clock.now, maxAgeMs });
}

// Shows TOKEN-2.
test('a good answer is kept for 15 s and no longer', async () => {
  const cache = cacheOf();
  await cache.verify('a');
  clock.advance(14_999);
  expect(await cache.verify('a')).toMatchObject({ userId: 'a' });
  expect(asked).toEqual(['a']);
  clock.advance(1);
  await cache.verify('a');
  expect(asked).toEqual(['a', 'a']);
});

test('looking does not lengthen an answer’s life', async () => {
  const cache = cacheOf();
  for (let second = 0; second <= 15; second += 1) {
    await cache.verify('a');
    clock.advance(1_000);
  }
  expect(asked).toEqual(['a', 'a']);
});

// Shows TOKEN-2.
test('never past exp', async () => {
  const cache = cacheOf({ lifetimeMs: 4_000 });
  await cache.verify('a');
  clock.advance(3_999);
  await cache.verify('a');
  expect(asked).toEqual(['a']);
  clock.advance(1);
  await cache.verify('a');
  await cache.verify('a');
  expect(asked).toEqual(['a', 'a', 'a']);
});

test('more than 15 s cannot be had, less can', async () => {
  const long = cacheOf({ maxAgeMs: HOUR_MS });
  await long.verify('a');
  clock.advance(15_000);
  await long.verify('a');
  expect(asked).toEqual(['a', 'a']);
  const none = cacheOf({ maxAgeMs: 0 });
  await none.verify('b');
  await none.verify('b');
  expect(asked).toEqual(['a', 'a', 'b', 'b']);
});

test('the age counts from before the provider was asked', async () => {
  const slow = cacheVerifications({
    now: clock.now,
    verify: async (token) => {
      asked.push(token);
      clock.advance(2_000);
      return { issuer: 'i', userId: token, expiresAtMs: clock.now() + HOUR_MS };
    },
  });
  await slow.verify('a');
  clock.advance(12_999);
  await slow.verify('a');
  expect(asked).toEqual(['a']);
  clock.advance(1);
  await slow.verify('a');
  expect(asked).toEqual(['a', 'a']);
});

test('a clock that was set back does not lengthen an answer’s life', async () => {
  const cache = cacheOf();
  await cache.verify('a');
  clock.advance(-1);
  await cache.verify('a');
  expect(asked).toEqual(['a', 'a']);
});

test('concurrent verifications of one token share one', async () => {
  const cache = cacheOf();
  const users = await Promise.all(Array.from({ length: 100 }, () => cache.verify('a')));
  expect(users).toHaveLength(100);
  expect(asked).toEqual(['a']);
});

test('refusals are shared while under way and not kept', async () => {
  const cache = cacheOf();
  const answers = await Promise.allSettled([cache.verify('bad'), cache.verify('bad')]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(asked).toEqual(['bad']);
  await expect(cache.verify('bad')).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
  expect(asked).toEqual(['bad', 'bad']);
});

test('it holds 10,000 answers and gives up the least recently used', async () => {
  const cache = cacheOf();
  for (let n = 0; n < 10_000; n += 1) await cache.verify(`t${n}`);
  await cache.verify('t0');
  await cache.verify('one-more');
  asked.length = 0;
  await cache.verify('t0');
  expect(asked).toEqual([]);
  await cache.verify('t1');
  expect(asked).toEqual(['t1']);
});

test('beyond 1,000 under way it answers unavailable', async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const cache = cacheVerifications({
    now: clock.now,
    verify: async (token) => {
      await gate;
      return { issuer: 'i', userId: token, expiresAtMs: clock.now() + HOUR_MS };
    },
  });
  const first = Array.from({ length: 1_000 }, (_, n) => cache.verify(`t${n}`));
  await expect(cache.verify('one-more')).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  const shared = cache.verify('t0');
  release();
  await Promise.all(first);
  expect(await shared).toMatchObject({ userId: 't0' });
  expect(await cache.verify('one-more')).toMatchObject({ userId: 'one-more' });
});
