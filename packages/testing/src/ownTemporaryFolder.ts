import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// A setup file of Vitest. Each test file, and each process that it starts, has a temporary folder of its own: it meets no lock on a
// key and no file of another test, nor of a program that runs on this machine; and what it forgets there goes with it.

const { TMPDIR } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'prism-test-'));
// A server that does not run as root has its own folder below.
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;

afterAll(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});
