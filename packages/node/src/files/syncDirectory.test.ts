import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { syncDirectory, syncDirectorySync } from './syncDirectory.ts';

const isLinux = process.platform === 'linux';

test.runIf(isLinux)('both forms reach the directory, and leave no file open', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'prism-sync-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const openFiles = () => readdirSync('/proc/self/fd').length;
  const before = openFiles();
  for (let i = 0; i < 20; i++) {
    await syncDirectory(directory);
    syncDirectorySync(directory);
  }
  expect(openFiles()).toBeLessThan(before + 20);
  await expect(syncDirectory(join(directory, 'missing'))).rejects.toThrow('ENOENT');
  expect(() => syncDirectorySync(join(directory, 'missing'))).toThrow('ENOENT');
});
