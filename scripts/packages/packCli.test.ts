import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packCli } from './packCli.ts';

test('npx runs the commands from the packed tarball, in a folder that knows nothing of the repository', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prism-npx-'));
  try {
    const tarball = packCli(join(import.meta.dirname, '../..'), folder);
    const args = [
      '--yes',
      '--offline',
      '--cache',
      join(folder, 'cache'),
      '--package',
      tarball,
      'prism',
      'requests',
      '--help',
    ];
    const printed = execFileSync('npx', args, { cwd: folder, encoding: 'utf8' });
    expect(printed).toMatch(/prism requests list/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
