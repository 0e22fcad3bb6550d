import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { drawSome } from '@prism-gateway/testing/test-size';
import { describe, expect, test } from 'vitest';
import { type Program, programs } from './programs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Wrong command lines of each program, each with what its sentence names. */
const WRONG: Readonly<Partial<Record<keyof typeof programs, readonly (readonly [string, string])[]>>> = {
  start: [['--port 1', '--port']],
  relayer: [
    ['sttus', 'sttus'],
    ['--once', '--once'],
    ['status more', 'more'],
    ['explain --id', '--id'],
    ['explain one more', 'more'],
  ],
  watchtower: [
    ['adit', 'adit'],
    ['--once', '--once'],
    ['audit --until 1h', '--until'],
    ['audit more', 'more'],
    ['audit --since never', '--since'],
  ],
  payments: [
    ['sttus', 'sttus'],
    ['status --al', '--al'],
  ],
  'gas-monitor': [
    ['--onc', '--onc'],
    ['more', 'more'],
  ],
  backup: [
    ['--too x', '--too'],
    ['one more', 'more'],
  ],
  restore: [
    ['--form x', '--form'],
    ['one more', 'more'],
  ],
  doctor: [
    ['--verbose', '--verbose'],
    ['more', 'more'],
  ],
  'create-tables': [
    ['--jsn', '--jsn'],
    ['more', 'more'],
  ],
  whitelist: [
    ['ad', 'ad'],
    ['add 0x1 more', 'more'],
    ['list --al', '--al'],
  ],
  requests: [
    ['lst', 'lst'],
    ['list more', 'more'],
    ['list --limit', '--limit'],
  ],
  webhooks: [
    ['lst', 'lst'],
    ['remove', 'WEBHOOK_ID'],
    ['list --al', '--al'],
  ],
  stats: [
    ['more', 'more'],
    ['--al', '--al'],
  ],
  status: [['more', 'more']],
  limits: [['more', 'more']],
  completion: [['fish', 'bash']],
  keystore: [
    ['nw file', 'nw'],
    ['new file more', 'more'],
    ['new --password', 'keystore new FILE'],
  ],
  token: [
    ['--expires 1', '--expires'],
    ['alice --expires-in soon', '--expires-in'],
    ['alice bob', 'user id'],
  ],
  devnet: [
    ['--prot 1', '--prot'],
    ['--port many', '--port'],
    ['more', 'more'],
  ],
  walkthrough: [
    ['--ulr x', '--ulr'],
    ['more', 'more'],
  ],
  demo: [
    ['--usres 2', '--usres'],
    ['--users many', '--users'],
  ],
};
/** They say nothing that a program reads, or are read by people alone. */
const WITHOUT_JSON: readonly string[] = ['start', 'create-tables', 'completion', 'walkthrough', 'demo'];

const all = Object.entries(WRONG).flatMap(([name, cases]) => cases.map((one) => [name, ...one] as const));
const names = Object.keys(WRONG);

/** Runs a program as its launcher does, with settings that are there on no machine. */
async function run(name: string, args: readonly string[]) {
  const { steps } = (programs as Readonly<Record<string, Program>>)[name] ?? { steps: [] };
  const { file = '', args: own = [] } = steps.at(-1) ?? {};
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE };
  const child = spawn(process.execPath, [file, ...own, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, status };
}

describe('a wrong command line', () => {
  test('is in the table for every program that people run', () => {
    const run = Object.entries<Program>(programs).filter(([, { group }]) => group === 'run' || group === 'try');
    const ours = run.map(([name]) => name).filter((name) => !name.startsWith('example:') && name !== 'demo:payments');
    expect(names).toEqual(expect.arrayContaining(ours));
  });

  test.each(drawSome(all, { of: 'wrong command lines', small: 3 }))(
    'of %s: %s ends with 2 and a sentence that names it',
    async (name, line, named) => {
      const { status, stdout, stderr } = await run(name, line.split(' '));
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain(named);
      expect(stderr).toMatch(/--help|bash, zsh/);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(stderr).not.toMatch(/positional|parseArgs|at file:/);
      if (WITHOUT_JSON.includes(name)) return;
      const asked = await run(name, [...line.split(' '), '--json']);
      expect(asked.status).toBe(2);
      expect(JSON.parse(asked.stderr)).toEqual({ error: expect.stringContaining(named) });
    },
  );
});

// A help that ran the program would write, install or listen: the launcher would not have answered by then.
test.each(drawSome(Object.keys(programs), { of: 'programs', small: 6 }))(
  '%s --help prints help and does nothing else',
  async (name) => {
    const dir = mkdtempSync(join(tmpdir(), 'help-'));
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, HOME, NODE_COMPILE_CACHE, DATA_DIR: dir };
    const help = ['bin/prism.mjs', name, '--help'];
    const { stdout, stderr, status } = spawnSync(process.execPath, help, { cwd: root, env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(name.split(':')[0] ?? '');
    expect(readdirSync(dir)).toEqual([]);
    rmSync(dir, { recursive: true });
  },
);
