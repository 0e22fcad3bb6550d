import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programs } from '../../bin/programs.mjs';
import { findTool } from './rigs/findTool.ts';

const run = promisify(execFile);
const analyze = findTool('systemd-analyze', 'systemd');
const units = fileURLToPath(new URL('../systemd', import.meta.url));
const services = readdirSync(units).filter((name) => name.endsWith('.service'));
/** They start programs of others. */
const OTHERS = ['prism-litestream.service', 'prism-alertmanager.service', 'prism-failed@.service'];
/** Tenths of what systemd calls exposure: 3.0. */
const MAX_EXPOSURE = '30';

test('each program that runs for long has a unit, which starts it', () => {
  const started = services.flatMap((name) => {
    const program =
      /^ExecStart=\/opt\/prism-gateway\/node_modules\/node\/bin\/node \/opt\/prism-gateway\/bin\/prism\.mjs ([\w-]+)/m.exec(
        readFileSync(join(units, name), 'utf8'),
      )?.[1];
    return program ?? (OTHERS.includes(name) ? [] : name);
  });
  expect(started.toSorted()).toEqual(['backup', 'gas-monitor', 'payments', 'relayer', 'start', 'watchtower']);
  expect(Object.keys(programs)).toEqual(expect.arrayContaining(started));
});

test('each program runs as in production, unless its settings say otherwise', () => {
  const texts = services.filter((name) => !OTHERS.includes(name));
  for (const name of texts)
    expect(readFileSync(join(units, name), 'utf8'), name).toMatch(
      /^Environment=STAGE=prod\n(?:#.*\n)?EnvironmentFile=/m,
    );
});

test('a backup that fails tells people', () => {
  expect(readFileSync(join(units, 'prism-backup.service'), 'utf8')).toContain('OnFailure=prism-failed@%n.service');
});

describe.skipIf(analyze === undefined)("systemd's own check", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'prism-units-'));
    cpSync(units, folder, { recursive: true });
    // What the units start is looked for: here it is this repository's own.
    const node = join(folder, 'node');
    writeFileSync(node, '', { mode: 0o755 });
    for (const name of services) {
      const file = join(folder, name);
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace(
          /\/(opt\/prism-gateway\/(node_modules\/node\/bin\/node|deploy\/alertmanager\/start)|usr\/bin\/(litestream|curl))\b/,
          node,
        ),
      );
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(services)('%s is exposed by 3.0 at most', async (name) => {
    const args = ['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, '--no-pager', join(folder, name)];
    const { stdout } = await run(analyze as string, args);
    expect(stdout).toMatch(/Overall exposure level for .*: [0-2]\.\d/);
  });

  test('all of them are well formed', async () => {
    const files = readdirSync(units).map((name) => join(folder, name));
    const { stdout, stderr } = await run(analyze as string, ['verify', '--man=no', ...files]);
    // Of other units of the machine it may complain; of ours it must not.
    expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('prism'))).toEqual([]);
  });
});
