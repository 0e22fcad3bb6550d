import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { programs } from './programs.mjs';

const launcher = fileURLToPath(new URL('./prism.mjs', import.meta.url));

function prism(...args: readonly string[]) {
  return spawnSync(process.execPath, [launcher, ...args], { encoding: 'utf8' });
}

test('--help lists every program with a line on each', () => {
  const { status, stdout } = prism('--help');
  expect(status).toBe(0);
  const lines = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
  for (const [name, { summary }] of Object.entries(programs)) expect(lines).toContainEqual([name, summary]);
});

test('a program that is not there: one sentence with the nearest one', () => {
  const { status, stderr } = prism('relayr', '--help');
  expect(status).toBe(2);
  expect(stderr).toBe('There is no program "relayr"; did you mean "relayer"? `prism --help` lists them all.\n');
});

test('no program: the list, and the status of a wrong command line', () => {
  expect(prism()).toMatchObject({ status: 2, stdout: expect.stringContaining('gas-monitor') });
});

test('words after the program are its own', () => {
  const { status, stdout } = prism('start', '--help');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^\s*DATA_DIR/m);
});

test('completion knows the names of all programs', () => {
  expect(prism('completion', 'bash').stdout).toMatch(/" "\) words=".*\bgas-monitor\b.*\brequests\b/);
});
