import { expect, test } from 'vitest';
import { createReadBytes } from './createReadBytes.ts';
import { rateLimited } from './errors.ts';
import type { RateLimiter } from './rateLimit.ts';

/** A limiter with `most` bytes left for each client. */
function setUp(most: number) {
  const used = new Map<string, number>();
  const limiter = {
    take(_: string, { client, hits = 1 }: { client: string; hits?: number }) {
      const sum = (used.get(client) ?? 0) + hits;
      if (sum > most) throw rateLimited('bytes of answers', 30, {});
      used.set(client, sum);
      return {};
    },
  } as Pick<RateLimiter, 'take'> as RateLimiter;
  const { count } = createReadBytes(limiter);
  const made: string[] = [];
  const read = async (peer: string, bytes: number) =>
    await count(peer, () => {
      made.push(peer);
      return { status: 200, body: 'a'.repeat(bytes) };
    });
  return { read, made, used };
}

// Shows LIMIT-20.
test('a peer that has read too much is refused before anything is read for it, and nobody else is', async () => {
  const { read, made } = setUp(200_000);
  await read('one', 120_000);
  await expect(read('one', 120_000)).rejects.toMatchObject({ code: 'RATE_LIMITED', status: 429 });
  await expect(read('one', 10)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(made).toEqual(['one', 'one']);
  expect(await read('another', 120_000)).toMatchObject({ status: 200 });
});

test('small answers are counted by their number alone', async () => {
  const { read, used } = setUp(1);
  await read('one', 8191);
  expect(used.size).toBe(0);
});
