import { expect, test } from 'vitest';
import { createRetryStrategy } from './createDynamoClient.ts';

let nowMs = 0;
const options = {
  maxAttempts: 4,
  firstPauseMs: 100,
  longestPauseMs: 300,
  timeoutMs: 1000,
  budget: 10,
  now: () => nowMs,
};

async function countTries(strategy: ReturnType<typeof createRetryStrategy>, errorType: 'TRANSIENT' | 'CLIENT_ERROR') {
  let token = await strategy.acquireInitialRetryToken('');
  const pauses: number[] = [];
  try {
    for (;;) {
      token = await strategy.refreshRetryTokenForRetry(token, { errorType });
      pauses.push(token.getRetryDelay());
    }
  } catch {
    return { token, pauses };
  }
}

test('a call is tried again so often, after pauses of growing bounds', async () => {
  for (let i = 0; i < 3; i++) {
    const { pauses } = await countTries(createRetryStrategy(options), 'TRANSIENT');
    expect(pauses).toHaveLength(3);
    for (const [n, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(0);
      expect(pause).toBeLessThan(Math.min(300, 100 * 2 ** n));
    }
  }
});

test('the longest pause bounds all of them', async () => {
  const { pauses } = await countTries(createRetryStrategy({ ...options, maxAttempts: 11 }), 'TRANSIENT');
  expect(pauses).toHaveLength(10);
  expect(Math.max(...pauses)).toBeLessThan(300);
});

test('a call that has taken long enough is not tried again, however often that was', async () => {
  const strategy = createRetryStrategy(options);
  const first = await strategy.acquireInitialRetryToken('');
  nowMs += 1000;
  const second = await strategy.refreshRetryTokenForRetry(first, { errorType: 'TRANSIENT' });
  nowMs += 1;
  await expect(strategy.refreshRetryTokenForRetry(second, { errorType: 'TRANSIENT' })).rejects.toThrow('long enough');
  // Another call's time is its own.
  expect((await countTries(strategy, 'TRANSIENT')).pauses).toHaveLength(3);
});

test('what the caller did wrong is not tried again', async () => {
  expect((await countTries(createRetryStrategy(options), 'CLIENT_ERROR')).pauses).toEqual([]);
});

test('what met a transaction on the same item is tried again, though its error is reported as a fault of the caller', async () => {
  const strategy = createRetryStrategy(options);
  const first = await strategy.acquireInitialRetryToken('');
  const error = { name: 'TransactionConflictException', message: '', $fault: 'client', $metadata: {} } as const;
  const given = { errorType: 'CLIENT_ERROR', error } as const;
  expect((await strategy.refreshRetryTokenForRetry(first, given)).getRetryCount()).toBe(1);
});

test('when all calls fail the budget ends, and successes bring it back', async () => {
  const strategy = createRetryStrategy(options);
  const tries = async () => (await countTries(strategy, 'TRANSIENT')).pauses.length;
  expect([await tries(), await tries(), await tries(), await tries(), await tries()]).toEqual([3, 3, 3, 1, 0]);
  const fresh = await strategy.acquireInitialRetryToken('');
  strategy.recordSuccess(fresh);
  strategy.recordSuccess(fresh);
  expect([await tries(), await tries()]).toEqual([2, 0]);
});

test('a call that succeeds at last gives back what it took, and no more than the whole', async () => {
  const strategy = createRetryStrategy(options);
  for (let i = 0; i < 20; i++) {
    const { token, pauses } = await countTries(strategy, 'TRANSIENT');
    expect(pauses).toHaveLength(3);
    strategy.recordSuccess(token);
    strategy.recordSuccess(token);
  }
});
