import { expect, it } from 'vitest';
import { createLogger, type LogLevel } from './createLogger.ts';

function logAt(level: LogLevel): unknown[] {
  const lines: string[] = [];
  const fields = () => ({ awsRequestId: 'one' });
  const logger = createLogger({ level, now: () => 5, fields, write: (line) => lines.push(line) });
  for (const name of ['debug', 'info', 'warn', 'error'] as const)
    logger[name]({ route: '/', text: 'a\nb' }, `at ${name}`);
  return lines.map((line) => {
    expect(line).toMatch(/^[^\n]*\n$/);
    return JSON.parse(line) as unknown;
  });
}

const lineOf = (level: string) => ({
  level,
  time: 5,
  awsRequestId: 'one',
  route: '/',
  text: 'a\nb',
  msg: `at ${level}`,
});

it.each([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['silent', []],
] as const)('at level %s writes %j', (level, written) => {
  expect(logAt(level)).toEqual(written.map(lineOf));
});
