import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createFakeClock, createLogRecorder } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createSpaceGuard } from './createSpaceGuard.ts';

const guardOf = (minFreeBytes: number, directory = tmpdir()) => {
  const logger = createLogRecorder();
  return {
    logger,
    hasSpace: createSpaceGuard({ directory, what: 'uploads', minFreeBytes, now: createFakeClock().now, logger }),
  };
};

// Shows STORE-9.
test('there is room while so much is free, and the log says when there is none any more', () => {
  const { blocks, bsize } = statfsSync(tmpdir());
  expect(guardOf(1).hasSpace()).toBe(true);
  const { hasSpace, logger } = guardOf(blocks * bsize + 1);
  expect([hasSpace(), hasSpace()]).toEqual([false, false]);
  expect(logger.lines.map(({ level }) => level)).toEqual(['error']);
});

test('0 is off, and a disk that cannot be asked has room', () => {
  expect(guardOf(0).hasSpace()).toBe(true);
  expect(guardOf(1, '/there/is/nothing/here').hasSpace()).toBe(true);
});
