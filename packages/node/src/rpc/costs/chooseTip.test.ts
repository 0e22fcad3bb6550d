import { expect, test } from 'vitest';
import { chooseTip } from './chooseTip.ts';

const history = (rewards: readonly number[], used = rewards.map(() => 0.5)) => ({
  ...{ oldestBlock: '0x1', baseFeePerGas: rewards.map(() => '0x1'), gasUsedRatio: used },
  reward: rewards.map((reward) => [`0x${reward.toString(16)}`]),
});

// Shows NODE-2.
test.each<[string, unknown, bigint]>([
  ['no more than was usual', history([1, 1, 50, 1, 50]), 1n],
  ['what is usual by now', history([40, 50, 60]), 50n],
  ['no more than the node suggests', history([90, 90]), 50n],
  ['what the node suggests after blocks without transactions', history([0, 0, 0], [0, 0, 0]), 50n],
  ['nothing for a block without transactions', history([0, 3, 0], [0, 0.1, 0]), 3n],
  ['what a node suggests that has no history', { gasUsedRatio: [0.5], reward: null }, 50n],
])('a tip is %s', (_, answer, tip) => {
  expect(chooseTip(50n, answer)).toBe(tip);
});

test('a history that cannot be read is none', () => {
  expect(() => chooseTip(1n, null)).toThrow();
});
