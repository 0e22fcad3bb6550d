import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';

const module = new URL('./runNode.mjs', import.meta.url).href;

/** Says its pid, and ends with 7 once it is asked to. */
const program = `process.once('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log(process.pid);`;

/** Starts a launcher that runs some code by `runNode` or `becomeNode`. */
function launch(by: string, code: string): ChildProcessByStdio<null, Readable, null> {
  const run = `{ node: process.execPath, args: ['-e', ${JSON.stringify(code)}], env: process.env }`;
  const launcher = `import { ${by} as run } from '${module}'; process.exitCode = await run(${run});`;
  const args = ['--input-type=module', '-e', launcher];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function readLine(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return line;
}

test.each(['runNode', 'becomeNode'])('%s: a signal reaches the program, and its exit status comes back', async (by) => {
  const launcher = launch(by, program);
  await readLine(launcher);
  launcher.kill('SIGTERM');
  expect(await once(launcher, 'close')).toEqual([7, null]);
});

test('becomeNode leaves no process of its own', async () => {
  const launcher = launch('becomeNode', program);
  expect(Number(await readLine(launcher))).toBe(launcher.pid);
  launcher.kill('SIGTERM');
  await once(launcher, 'close');
});

test('runBelowNpm: a program ends as asked though only the shell above was signalled', async () => {
  const run = `{ node: process.execPath, args: ['-e', ${JSON.stringify(program)}], env: process.env }`;
  const launcher = `import { runBelowNpm } from '${module}'; process.exitCode = await runBelowNpm(${run});`;
  // The second command keeps the shell from becoming the first.
  const command = `"$0" --input-type=module -e "$1"; true`;
  const shell = spawn('sh', ['-c', command, process.execPath, launcher], { stdio: ['ignore', 'pipe', 'inherit'] });
  await readLine(shell);
  shell.kill('SIGTERM');
  // Its output ends once the program has, which holds it too.
  const [, signal] = await once(shell, 'close');
  expect(signal).toBe('SIGTERM');
});

test('runNode tells a signal that ended the program as shells do', async () => {
  const launcher = launch('runNode', `process.kill(process.pid, 'SIGKILL')`);
  expect(await once(launcher, 'close')).toEqual([137, null]);
});
