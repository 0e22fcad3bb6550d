import { expect, test } from 'vitest';
import { createLastSeen } from './createLastSeen.ts';

test('a relayer is noted once a minute, and again at once where the store did not take it', async () => {
  const noted: number[] = [];
  let nowMs = 1_000_000;
  let isDown = true;
  const admin = {
    async recordSeen(_: string, at: number) {
      if (isDown) throw new Error('down');
      noted.push(at);
    },
  };
  const recordSeen = createLastSeen({ admin, now: () => nowMs });
  recordSeen('0xAA');
  await Promise.resolve().then(() => undefined);
  isDown = false;
  recordSeen('0xaa');
  recordSeen('0xAA');
  nowMs += 59_999;
  recordSeen('0xaa');
  nowMs += 1;
  recordSeen('0xaa');
  // The clock was set back.
  nowMs -= 500_000;
  recordSeen('0xaa');
  expect(noted).toEqual([1_000_000, 1_060_000, 560_000]);
});
