import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type FileLock, lockKey } from './lockFile.ts';

const MODULE = new URL('./lockFile.ts', import.meta.url).href;
const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const held = expect.objectContaining({ code: 'LOCK_HELD' });

let directory: string;

beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'prism-lock-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  directory = join(root, 'locks');
});

test('one holds a key at a time, in whatever letter case, and may give it back twice', () => {
  const lock = lockKey(directory, { chainId: 1, address });
  expect(() => lockKey(directory, { chainId: 1, address: address.toLowerCase() })).toThrow(held);
  lock.release();
  lock.release();
  lockKey(directory, { chainId: 1, address }).release();
});

test('another chain, another address and another directory are other locks', () => {
  const first = lockKey(directory, { chainId: 1, address });
  const takeOthers = () => [
    lockKey(directory, { chainId: 2, address }),
    lockKey(directory, { chainId: 1, address: address.replace('5F', '6F') }),
    lockKey(join(directory, 'deeper'), { chainId: 1, address }),
  ];
  let others: readonly FileLock[] = [];
  expect(() => {
    others = takeOthers();
  }).not.toThrow();
  for (const lock of [first, ...others]) lock.release();
});

test('a process holds what it has taken, also when nothing names the lock any more, and nothing once it is killed', async () => {
  const script = `
    import { lockKey } from ${JSON.stringify(MODULE)};
    lockKey(${JSON.stringify(directory)}, { chainId: 1, address: '${address}' });
    setInterval(() => undefined, 1000);
    // What is done for a collected object is done in a turn of its own.
    setImmediate(() => {
      gc();
      setImmediate(() => console.log('locked'));
    });`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    await once(child.stdout, 'data');
    expect(() => lockKey(directory, { chainId: 1, address })).toThrow(held);
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
  lockKey(directory, { chainId: 1, address }).release();
});

test('a directory that cannot be made is not said to be locked', () => {
  const file = join(directory, '..', 'file');
  writeFileSync(file, '');
  expect(() => lockKey(file, { chainId: 1, address })).toThrow('EEXIST');
});
