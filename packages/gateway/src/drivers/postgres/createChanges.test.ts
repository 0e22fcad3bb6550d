import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChanges } from './createChanges.ts';
import { tablesOf } from './schema.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a look that the database refused is made again with the next one', async () => {
  const state = { sequence: 0, refuses: 1 };
  const changes = createChanges({
    connect: () => Promise.reject(new Error('no notifications')),
    async read(sql) {
      if (sql.includes("'sequence'")) return [{ value: state.sequence }];
      if (state.refuses-- > 0) throw new Error('the database is away');
      return [{ request_id: 'a', status: 'processing' }];
    },
    tables: tablesOf({ requests: 'requests', relayers: 'relayers', rateLimits: 'limits' }),
    process: 'one',
  });
  const moved = vi.fn<() => void>();
  changes.watch({ requestId: 'a', status: 'pending' }, moved);
  await vi.advanceTimersByTimeAsync(1000);
  state.sequence = 1;
  // One look sees the move, the next one finds that nobody has announced it, and is refused.
  await vi.advanceTimersByTimeAsync(2000);
  expect([state.refuses, moved.mock.calls.length]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(moved).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(5000);
  expect(moved).toHaveBeenCalledOnce();
  await changes.close();
});
