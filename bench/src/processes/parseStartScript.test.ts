import { expect, test } from 'vitest';
import { parseStartScript } from './parseStartScript.ts';

test('takes environment, flags and entry apart', () => {
  expect(parseStartScript('CACHE=a/node_b exec node --flag=4 src/server.ts')).toEqual({
    env: { CACHE: 'a/node_b' },
    nodeFlags: ['--flag=4'],
    entry: 'src/server.ts',
  });
  expect(parseStartScript('node server.ts')).toEqual({ env: {}, nodeFlags: [], entry: 'server.ts' });
});

test('refuses what it would run otherwise than npm does', () => {
  expect(() => parseStartScript('tsx server.ts')).toThrow('tsx server.ts');
  expect(() => parseStartScript('time node server.ts')).toThrow('time node');
  expect(() => parseStartScript('node server.ts --later')).toThrow('--later');
});
