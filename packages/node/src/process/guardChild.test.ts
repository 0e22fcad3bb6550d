import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { guardChild } from './guardChild.ts';

const MODULE = new URL('./guardChild.ts', import.meta.url).href;
/** Starts a child that would live on, guards it, and says its id. */
const SCRIPT = `
  import { spawn } from 'node:child_process';
  import { guardChild } from ${JSON.stringify(MODULE)};
  const child = spawn('sleep', ['1000'], { detached: true });
  guardChild(child, { folder: process.env.FOLDER });
  console.log(child.pid);
`;

const parents: ChildProcess[] = [];
const pids: number[] = [];
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended, as it should have.
  }
}
afterEach(() => {
  for (const parent of parents.splice(0)) parent.kill('SIGKILL');
  for (const pid of pids.splice(0)) kill(pid);
});

/** A process that has a guarded child, in a group of its own as a terminal's program is. */
async function startParent() {
  const folder = await mkdtemp(join(tmpdir(), "it's-"));
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', SCRIPT], {
    env: { ...process.env, FOLDER: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  parents.push(parent);
  const [line] = await once(createInterface({ input: parent.stdout }), 'line');
  const pid = Number(line);
  pids.push(pid);
  return { parent, pid, folder };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a child ends with a process that is killed, and what it has on the disk goes with it', async () => {
  const { parent, pid, folder } = await startParent();
  expect([isAlive(pid), existsSync(folder)]).toEqual([true, true]);
  parent.kill('SIGKILL');
  await expect.poll(() => [isAlive(pid), existsSync(folder)]).toEqual([false, false]);
});

test('Ctrl-C, which reaches all of the group, ends the child, too', async () => {
  const { parent, pid, folder } = await startParent();
  // The group of a process that was started detached has its id.
  process.kill(-parent.pid!, 'SIGINT');
  await expect.poll(() => [isAlive(pid), existsSync(folder)]).toEqual([false, false]);
});

test('a guard that was ended touches no other process, and what could not be started is not guarded', async () => {
  const child = spawn('sleep', ['1000']);
  pids.push(child.pid!);
  guardChild(child)();
  const missing = spawn('/nowhere/program');
  const failed = once(missing, 'error');
  guardChild(missing)();
  await expect(failed).resolves.toMatchObject([{ code: 'ENOENT' }]);
  expect(isAlive(child.pid!)).toBe(true);
});
