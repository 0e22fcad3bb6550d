import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const MODULE = new URL('./createLogger.ts', import.meta.url).href;

/** Statements on a logger called `logger`. */
const scriptOf = (level: string, statements: string) => `import { createLogger } from ${JSON.stringify(MODULE)};
    const logger = createLogger(${JSON.stringify(level)});
    ${statements}`;

/** Runs statements in a process of its own. @returns what it printed */
async function printed(level: string, statements: string): Promise<string> {
  const script = scriptOf(level, statements);
  const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '-e', script]);
  return stdout;
}

test('writes JSON lines with level, time, fields and message', async () => {
  const lines = (
    await printed('debug', "logger.debug({ a: 1 }, 'one'); logger.error({ b: 'x\\ny' }, 'two'); await logger.close()")
  )
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    { level: 'debug', time: expect.any(Number), a: 1, msg: 'one' },
    { level: 'error', time: expect.any(Number), b: 'x\ny', msg: 'two' },
  ]);
});

test('writes what is of its level and above, and nothing when silent', async () => {
  const all = "for (const level of ['debug', 'info', 'warn', 'error']) logger[level]({}, level); await logger.close()";
  const messages = async (level: string) =>
    [...(await printed(level, all)).matchAll(/"msg":"(\w+)"/g)].map(([, name]) => name);
  expect(await messages('warn')).toEqual(['warn', 'error']);
  expect(await messages('silent')).toEqual([]);
});

test('lines come out by themselves too, and a close before the end leaves none behind', async () => {
  const many = 'for (let i = 0; i < 5000; i++) logger.info({ i }, "line");';
  const countOf = (text: string) => text.trim().split('\n').length;
  // It lives until its lines have come.
  const child = spawn(
    process.execPath,
    ['--input-type=module-typescript', '-e', scriptOf('info', `${many} process.stdin.resume()`)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  let lines = 0;
  for await (const _ of createInterface({ input: child.stdout })) if (++lines === 5000) child.stdin.end();
  expect(lines).toBe(5000);
  expect(countOf(await printed('info', `${many} await logger.close(); process.exit(0)`))).toBe(5000);
});

test('a reader that has stopped reading neither holds up the end nor fills the memory', async () => {
  const script = `import { createLogger } from ${JSON.stringify(MODULE)};
    const logger = createLogger('info');
    const text = 'x'.repeat(10_000);
    for (let i = 0; i < 10_000; i++) logger.info({ text }, 'line');
    const grown = process.memoryUsage().rss;
    console.error(JSON.stringify([await logger.close(), grown < 250e6]));
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Its standard output is never read.
  expect(JSON.parse(await text(child.stderr))).toEqual([false, true]);
});
