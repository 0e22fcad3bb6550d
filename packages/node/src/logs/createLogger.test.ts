import { expect, test } from 'vitest';
import { createLogger, type LogFields, type LogLevel, withFields } from './createLogger.ts';

function logAt(level: LogLevel): unknown[] {
  const lines: string[] = [];
  const fields = () => ({ callId: 'one' });
  const logger = createLogger({ level, now: () => 5, fields, write: (line) => lines.push(line) });
  for (const name of ['debug', 'info', 'warn', 'error'] as const)
    logger[name]({ route: '/', text: 'a\nb' }, `at ${name}`);
  return lines.map((line) => {
    expect(line).toMatch(/^[^\n]*\n$/);
    return JSON.parse(line) as unknown;
  });
}

const lineOf = (level: string) => ({ level, time: 5, callId: 'one', route: '/', text: 'a\nb', msg: `at ${level}` });

test.each<[LogLevel, readonly string[]]>([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['silent', []],
])('at level %s it writes %j', (level, written) => {
  expect(logAt(level)).toEqual(written.map(lineOf));
});

function logged(facts: LogFields): unknown {
  let text = '';
  const redact = (line: string) => line.replaceAll('s3cret', '[secret]');
  const write = (line: string) => {
    text += line;
  };
  createLogger({ level: 'info', now: () => 5, write, redact }).info(facts, 'hm');
  return JSON.parse(text);
}

test('errors and big integers have a form, and secrets are taken out of both', () => {
  const error = Object.assign(new Error('outer s3cret', { cause: new RangeError('inner') }), { code: 'X_FAILED' });
  expect(logged({ err: error, amount: 2n ** 70n })).toEqual({
    level: 'info',
    time: 5,
    err: {
      type: 'Error',
      code: 'X_FAILED',
      message: 'outer [secret]',
      stack: expect.stringContaining('createLogger.test.ts'),
      cause: { type: 'RangeError', message: 'inner', stack: expect.any(String) },
    },
    amount: '1180591620717411303424',
    msg: 'hm',
  });
  expect(logged({ amount: 1n })).toMatchObject({ amount: '1' });
});

test('a value that holds itself costs the fields, not the line', () => {
  const ring: Record<string, unknown> = {};
  ring.self = ring;
  expect(logged({ ring })).toEqual({ level: 'info', time: 5, msg: 'hm', unwritable: ['level', 'time', 'ring', 'msg'] });
});

test('a part of a program says in each line which it is', () => {
  const lines: unknown[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const logger = withFields(createLogger({ level: 'info', now: () => 5, write }), { chain: 'a', block: 1 });
  logger.debug({}, 'not written');
  logger.warn({ block: 2 }, 'oh');
  logger.error({}, 'no');
  expect(lines).toEqual([
    { level: 'warn', time: 5, chain: 'a', block: 2, msg: 'oh' },
    { level: 'error', time: 5, chain: 'a', block: 1, msg: 'no' },
  ]);
});
