import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openTempFile, sweepTempFiles } from './tempFiles.ts';

const OTHER_HOST = '00000000';

/** The first characters of a file's name, which stand for the machine. */
const hostOf = (path: string) => basename(path).slice(0, 8);

let host: string;
beforeAll(async () => {
  const own = await mkdtemp(join(tmpdir(), 'temp-files-'));
  const { path, handle } = await openTempFile(own);
  await handle.close();
  await rm(own, { recursive: true });
  host = hostOf(path);
});

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
  ['a dead process of this machine', () => leave(host, deadPid(), 0)],
  ['an earlier process of the same number', () => leave(host, process.pid, 1800)],
  ['anyone, that nobody wrote to for an hour', () => leave(OTHER_HOST, 1, 3601)],
])('removes a file of %s', async (_, create) => {
  await create();
  expect(sweep()).toBe(1);
  expect(await readdir(directory)).toEqual([]);
});

test.each<[string, () => Promise<unknown>]>([
  ['a living process', () => leave(host, process.ppid, 60)],
  ['a process of another machine', () => leave(OTHER_HOST, deadPid(), 60)],
  ['this process', async () => (await openTempFile(directory)).handle.close()],
  ['another program', () => writeFile(join(directory, 'notes.txt'), '')],
])('keeps a file of %s', async (_, create) => {
  await create();
  expect(sweep()).toBe(0);
  expect(await readdir(directory)).toHaveLength(1);
});

/** Runs a program as a container does: its process numbers are its own. */
const runInNamespace = (program: string, ...args: string[]) =>
  spawnSync('unshare', ['--user', '--map-root-user', '--pid', '--fork', program, ...args], { encoding: 'utf8' });

test.skipIf(runInNamespace('true').status !== 0)(
  'keeps a file of a process of another container of the same host name, whose number nobody has here',
  async () => {
    const script = `import { openTempFile } from ${JSON.stringify(import.meta.resolve('./tempFiles.ts'))};
      const { path, handle } = await openTempFile(${JSON.stringify(directory)});
      await handle.close();
      console.log(path);`;
    const { stdout } = runInNamespace(process.execPath, '--input-type=module-typescript', '-e', script);
    await leave(hostOf(stdout.trim()), deadPid(), 60);
    expect(sweep()).toBe(0);
    expect(await readdir(directory)).toHaveLength(2);
  },
);
