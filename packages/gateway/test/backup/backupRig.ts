import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type CommandEnd, type CommandInput, callBackup, runBackup } from './runBackup.ts';

let root: string;
let running: RunningGateway[];

/** A path in the test's own folder. */
export const inRoot = (name: string) => join(root, name);

/** Files below the root that this process has open. */
function listOpen(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${name}`);
      return file.startsWith(root) || file === '/dev/zero' ? [file] : [];
    } catch {
      return [];
    }
  });
}

/** Starts a gateway on a data folder of this name; the test's end kills it. */
export async function start(name: string): Promise<RunningGateway> {
  const gateway = await startGateway({ dataDir: inRoot(name) });
  running.push(gateway);
  return gateway;
}

/** The data folder of a gateway that was started once and stopped. */
let stopped: string;

/** Makes it the data folder `old`. */
export const copyStopped = () => cpSync(stopped, inRoot('old'), { recursive: true });

/** Gives each test of a file an empty folder. */
export function useRoot(): void {
  beforeAll(async () => {
    stopped = mkdtempSync(join(tmpdir(), 'prism-backup-stopped-'));
    await (await startGateway({ dataDir: stopped })).stop();
  });
  afterAll(() => rmSync(stopped, { recursive: true }));
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'prism-backup-test-'));
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((gateway) => gateway.kill()));
    // A stream that was not read to its end closes in the background.
    await expect.poll(listOpen).toEqual([]);
    rmSync(root, { recursive: true });
  });
}

/** Puts an object where a gateway keeps those that were uploaded. */
export function writeObject(dataDir: string, content: Buffer): string {
  const key = createHash('sha256').update(content).digest('hex');
  const path = join('objects', 'v1', 'a'.repeat(64), 'b'.repeat(32), key);
  mkdirSync(dirname(join(dataDir, path)), { recursive: true });
  writeFileSync(join(dataDir, path), content);
  return path;
}

/** The requests in a gateway's data folder, of which no gateway has to be started. */
export function readRequestIds(dataDir: string): readonly unknown[] {
  const database = new DatabaseSync(join(dataDir, 'gateway-dev.db'), { readOnly: true });
  const rows = database.prepare('SELECT request_id AS id FROM "service-requests-dev"').all();
  database.close();
  return rows.map(({ id }) => id);
}

type Run = (command: 'backup' | 'restore', input: CommandInput) => Promise<CommandEnd>;

/** Both commands, run in this process or in ones of their own. */
const createCommands = (run: Run) => ({
  async backUp(dataDir: string, args: readonly string[], env = {}) {
    const ended = await run('backup', { args: [...args, '--json'], env: { DATA_DIR: dataDir, ...env } });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    return JSON.parse(ended.stdout);
  },
  restore: (dataDir: string, args: readonly string[], env = {}) =>
    run('restore', { args, env: { DATA_DIR: dataDir, ...env } }),
});

export const programs = createCommands(runBackup);
export const { backUp, restore } = createCommands(callBackup);
