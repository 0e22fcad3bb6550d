import { expect, test } from 'vitest';
import { describeStory } from '../core/describeStory.ts';
import type { WorldEvent } from '../core/eventLog.ts';
import { writeStory } from './describe.ts';

const hash = `0x${'ab'.repeat(32)}`;
const event = (second: number, kind: string, text: string, ...about: readonly string[]): WorldEvent => ({
  ...{ atMs: 1000 * second, kind, who: 'relayer-1', text, about },
});

test('a story holds its transactions, and the faults in between; what repeats stands there once', () => {
  const events = [
    event(0, 'fault', 'before'),
    event(1, 'actor', 'posts', 'a'),
    event(2, 'fault', 'bad network: begins'),
    event(3, 'message', 'looks', 'a', 'b'),
    event(4, 'message', 'looks', 'a'),
    event(5, 'log', 'other', 'b'),
    event(6, 'log', 'mined', hash),
    event(7, 'log', `reported ${hash}`, 'a'),
    event(8, 'fault', 'after'),
  ];
  expect(writeStory(describeStory(events, 'a'))).toEqual([
    '01-01 00:00:01.000  actor    relayer-1: posts',
    '01-01 00:00:02.000  fault    relayer-1: bad network: begins',
    '01-01 00:00:03.000  message  relayer-1: looks (2 times until 01-01 00:00:04.000)',
    '01-01 00:00:06.000  log      relayer-1: mined',
    `01-01 00:00:07.000  log      relayer-1: reported ${hash}`,
  ]);
});
