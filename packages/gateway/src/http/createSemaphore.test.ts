import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSemaphore } from './createSemaphore.ts';

/** Counts looks for room and acts under way, the most at once among them. */
function createScene(room: () => number | Promise<number>) {
  const acquire = createSemaphore();
  const seen = { looks: 0, underWay: 0, most: 0 };
  const findRoom = () => {
    seen.looks += 1;
    return room();
  };
  async function run(act: () => Promise<void>): Promise<void> {
    const permit = await acquire('a', findRoom);
    try {
      await permit.run(async () => {
        seen.underWay += 1;
        seen.most = Math.max(seen.most, seen.underWay);
        try {
          await act();
        } finally {
          seen.underWay -= 1;
        }
      });
    } finally {
      permit.release();
    }
  }
  return { seen, run };
}

test('an act that nothing stands in the way of looks for room once', async () => {
  const { seen, run } = createScene(async () => 1);
  for (let i = 0; i < 3; i++) await run(async () => undefined);
  expect(seen.looks).toBe(3);
});

test.each([1, 3, 10])('with room for %i, so many are under way at once, and all come to their turn', async (room) => {
  const { seen, run } = createScene(() => room);
  await Promise.all(Array.from({ length: 20 }, () => run(() => setTimeout(2))));
  expect(seen).toMatchObject({ underWay: 0, most: room });
});

test('room that failures use up is never overdrawn, and who finds none is refused', async () => {
  let left = 5;
  const { seen, run } = createScene(async () => {
    const found = left;
    await setTimeout(1);
    if (found === 0) throw new Error('no room');
    return found;
  });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, () =>
      run(async () => {
        await setTimeout(3);
        left -= 1;
        throw new Error('failed');
      }),
    ),
  );
  const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : ''));
  expect([left, seen.most]).toEqual([0, 5]);
  expect(reasons.filter((reason) => reason.includes('failed'))).toHaveLength(5);
  expect(reasons.filter((reason) => reason.includes('no room'))).toHaveLength(25);
});
