import { expect, test } from 'vitest';
import { createPeerTurns } from './createPeerTurns.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

// Shows LIMIT-20.
test('a peer with a hundred calls lets another one in after its own next call', async () => {
  let nowMs = 0;
  const turns = createPeerTurns(() => nowMs);
  const served: string[] = [];
  // Each takes 3 ms: four of them fill a turn.
  const call = (peer: string) =>
    turns.serve(peer, () => {
      nowMs += 3;
      served.push(peer);
    });
  for (let n = 0; n < 100; n += 1) call('many');
  call('one');
  expect(served).toEqual(Array.from({ length: 4 }, () => 'many'));
  await nextTurn();
  expect(served.slice(4)).toEqual(['many', 'one', 'many', 'many']);
  while (served.length < 101) await nextTurn();
});

// Shows LIMIT-14.
test('what is rendered and not written yet has calls wait, until it is written', async () => {
  const turns = createPeerTurns(() => 0);
  const written = turns.rendered(10_000_000);
  let isServed = false;
  turns.serve('one', () => {
    isServed = true;
  });
  await nextTurn();
  expect(isServed).toBe(false);
  written();
  await nextTurn();
  expect(isServed).toBe(true);
});
