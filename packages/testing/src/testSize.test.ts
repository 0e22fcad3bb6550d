import { expect, test } from 'vitest';
import { drawSome, isLong } from './testSize.ts';

const CASES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const draw = (seed: number) => drawSome(CASES, { of: 'letters', small: 2, seed });

test.skipIf(isLong)('draws as many as are wanted, in their order, the same ones for a seed', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const drawn = draw(seed);
    expect(drawn).toHaveLength(2);
    expect(drawn).toEqual(CASES.filter((letter) => drawn.includes(letter)));
    expect(drawn).toEqual(draw(seed));
  }
});

test('leaves no case out for ever', () => {
  const seen = new Set(Array.from({ length: 100 }, (_, seed) => draw(seed)).flat());
  expect([...seen].sort()).toEqual(CASES);
});

test('gives all of a list that is short enough', () => {
  expect(drawSome(CASES, { of: 'letters', small: 7 })).toEqual(CASES);
});
