import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTempFile, sweepTempFiles } from './tempFiles.ts';

const HOST = hash('sha256', hostname()).slice(0, 8);
const OTHER_HOST = '00000000';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'temp-files-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A process that is no more; its number is not given again so soon. */
const deadPid = () => spawnSync(process.execPath, ['--version']).pid;

async function leave(host: string, pid: number, ageSeconds: number): Promise<string> {
  const name = `${host}-${pid}-0123456789abcdef.part`;
  await writeFile(join(directory, name), 'half');
  const time = Date.now() / 1000 - ageSeconds;
  await utimes(join(directory, name), time, time);
  return name;
}

const sweep = () => sweepTempFiles({ directory, nowMs: Date.now() });

test.each<[string, () => Promise<string>]>([
  ['a dead process of this machine', () => leave(HOST, deadPid(), 0)],
  ['an earlier process of the same number', () => leave(HOST, process.pid, 1800)],
  ['anyone, that nobody wrote to for an hour', () => leave(OTHER_HOST, 1, 3601)],
])('removes a file of %s', async (_, create) => {
  await create();
  expect(sweep()).toBe(1);
  expect(await readdir(directory)).toEqual([]);
});

test.each<[string, () => Promise<unknown>]>([
  ['a living process', () => leave(HOST, process.ppid, 60)],
  ['a process of another machine', () => leave(OTHER_HOST, deadPid(), 60)],
  ['this process', async () => (await openTempFile(directory)).handle.close()],
  ['another program', () => writeFile(join(directory, 'notes.txt'), '')],
])('keeps a file of %s', async (_, create) => {
  await create();
  expect(sweep()).toBe(0);
  expect(await readdir(directory)).toHaveLength(1);
});
