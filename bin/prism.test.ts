import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Program, programs } from './programs.mjs';
import { headings } from './writeHelp.mjs';

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

test('--version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(prism('--version')).toMatchObject({ status: 0, stdout: `${version}\n` });
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

/** The text of docs/commands.md. */
function writeCommands(): string {
  const lists = headings.map(([group, heading]) => {
    const members = Object.entries<Program>(programs).filter(([, program]) => program.group === group);
    return [`## ${heading}`, '', ...members.map(([name, { summary }]) => `- \`${name}\`: ${summary}`)].join('\n');
  });
  return `# Commands

What \`npx prism\` runs in a clone; \`npx prism COMMAND --help\` lists what one takes. The first that is called installs the dependencies.
The twelve that the [README](../README.md#commands) names are scripts of npm too; on Windows, whose shell has no \`exec\`, call them by
\`npx prism\`.

This page is written by \`npm test -- bin/prism.test.ts -u\`.

${lists.join('\n\n')}
`;
}

test('docs/commands.md has every command', async () => {
  await expect(writeCommands()).toMatchFileSnapshot('../docs/commands.md');
});
