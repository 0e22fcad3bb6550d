import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const fixture = fileURLToPath(new URL('./realm.fixture.ts', import.meta.url));

test('what was committed survives a kill, and what was not does not; locks and timers go with the process', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [fixture]);
  expect(JSON.parse(stdout)).toEqual({
    whileItLives: 'LOCK_HELD',
    afterTheKill: ['committed'],
    journal: ['words: word committed'],
    ticks: 2,
    diedAfterCommit: ['committed', 'its last word'],
    fullDisk: 'database or disk is full',
    restored: ['committed'],
  });
});
