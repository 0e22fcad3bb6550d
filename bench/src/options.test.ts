import { expect, test } from 'vitest';
import { measureNames, parseOptions } from './options.ts';

test('measures all, five times, on its own', () => {
  const options = parseOptions([]);
  expect(options).toMatchObject({ only: measureNames, runs: 5, quick: false, peers: false, connections: 32 });
  expect(options).not.toHaveProperty('json');
});

test('takes what is given', () => {
  const options = parseOptions(['--only', 'get,post', '--quick', '--peers', '--json', 'out.json']);
  expect(options).toMatchObject({ only: ['get', 'post'], runs: 2, quick: true, peers: true, json: 'out.json' });
  expect(parseOptions(['--quick', '--runs', '7']).runs).toBe(7);
});

test.for([
  [['--only', 'get,put'], '--only put'],
  [['--runs', '0'], '--runs 0'],
  [['--connections', '1.5'], '--connections 1.5'],
  [['--fast'], '--fast'],
] as const)('says what it does not understand: %j', ([args, named]) => {
  expect(() => parseOptions(args)).toThrow(expect.objectContaining({ code: 'BAD_OPTIONS' }));
  expect(() => parseOptions(args)).toThrow(named);
});
