import { expect, test } from 'vitest';
import { MEASURES, parseOptions } from './options.ts';

test('measures the gateway, five times, without peers', () => {
  const defaults = { section: 'gateway', only: MEASURES, runs: 5, quick: false, peers: false, connections: 32 };
  expect(parseOptions([])).toMatchObject(defaults);
});

test('takes what is given', () => {
  expect(parseOptions(['--only', 'get,post', '--quick', '--peers'])).toMatchObject({
    only: ['get', 'post'],
    runs: 1,
    quick: true,
    peers: true,
  });
  expect(parseOptions(['--quick', '--runs', '7']).runs).toBe(7);
  expect(parseOptions(['webhooks', 'dynamodb'])).toMatchObject({ section: 'webhooks', onDynamo: true });
  expect(parseOptions(['dynamodb', '--worst-day', '--check'])).toMatchObject({ worstDay: true, check: true });
  expect(parseOptions(['backup', '--quick', '--rate', '50']).backupArgs).toEqual(['--quick', '--rate', '50']);
  expect(parseOptions(['--all', '--quick'])).toMatchObject({ section: 'all', quick: true, peers: true });
});

test.for([
  [['--only', 'get,put'], '--only put'],
  [['--runs', '0'], '--runs 0'],
  [['--connections', '1.5'], '--connections 1.5'],
  [['--fast'], '--fast'],
  [['wallets'], '"wallets" is no section'],
  [['lambda', '--peers'], 'lambda does not take "peers"'],
  [['relayer', 'dynamodb'], 'relayer does not take "dynamodb"'],
  [['webhooks', 'sqlite'], '"sqlite"'],
] as const)('says what it does not understand: %j', ([args, named]) => {
  expect(() => parseOptions(args)).toThrow(expect.objectContaining({ code: 'BAD_OPTIONS' }));
  expect(() => parseOptions(args)).toThrow(named);
});
