import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const MODULE = new URL('./index.ts', import.meta.url).href;

const scriptOf = (gatherMs: number, statements: string) => `
  import { createLogger, openLogOutput } from ${JSON.stringify(MODULE)};
  const output = openLogOutput({ gatherMs: ${gatherMs} });
  const logger = createLogger({ level: 'info', write: output.write, now: Date.now });
  ${statements}`;

/** Runs statements on a logger called `logger` in a process of its own. @returns what it printed */
async function printed(gatherMs: number, statements: string): Promise<string> {
  const args = ['--input-type=module-typescript', '-e', scriptOf(gatherMs, statements)];
  const { stdout } = await run(process.execPath, args);
  return stdout;
}

const countOf = (lines: string) => lines.trim().split('\n').length;

test.each([0, 100])('lines that wait for others up to %d ms all come out', async (gatherMs) => {
  const many = 'for (let i = 0; i < 5000; i++) logger.info({ i }, "line");';
  expect(countOf(await printed(gatherMs, `${many} setTimeout(() => undefined, 500)`))).toBe(5000);
  expect(countOf(await printed(gatherMs, `${many} await output.close(); process.exit(0)`))).toBe(5000);
});

test('a reader that has stopped reading neither holds up the end nor fills the memory', async () => {
  const script = scriptOf(
    100,
    `const text = 'x'.repeat(10_000);
    for (let i = 0; i < 10_000; i++) logger.info({ text }, 'line');
    console.error(process.memoryUsage().rss < 250e6);
    await output.close();
    console.error('ended in good order');`,
  );
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Its standard output is never read.
  const ended = once(child, 'exit');
  expect([await text(child.stderr), await ended]).toEqual(['true\n', [null, 'SIGKILL']]);
});
