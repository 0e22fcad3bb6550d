import fc from 'fast-check';
import { expect, test } from 'vitest';
import { positionBytes, positionOf, readPosition, readPositions, writeBeginning, writePositions } from './position.ts';

const LAST_TIME = 253_402_300_799_999;
const places = fc.record({ createdAt: fc.nat({ max: LAST_TIME }), requestId: fc.uuid() });

test('positions compare as createdAt and then requestId do, as text and as bytes', () => {
  const nearby = fc.record({ createdAt: fc.nat({ max: 2 }), requestId: fc.uuid() });
  fc.assert(
    fc.property(fc.oneof(places, nearby), fc.oneof(places, nearby), (a, b) => {
      const expected =
        a.createdAt - b.createdAt || (a.requestId < b.requestId ? -1 : Number(a.requestId > b.requestId));
      const [left, right] = [positionOf(a), positionOf(b)];
      expect(Math.sign(expected)).toBe(left < right ? -1 : Number(left > right));
      expect(Math.sign(expected)).toBe(Buffer.compare(positionBytes(left), positionBytes(right)));
      expect(readPosition(positionBytes(left))).toBe(left);
    }),
  );
});

test('the positions of all partitions come back from one text', () => {
  const position = fc.option(places.map(positionOf), { nil: undefined });
  fc.assert(
    fc.property(fc.array(position, { minLength: 1, maxLength: 64 }), (positions) => {
      const text = writePositions(positions);
      expect(readPositions(text, positions.length)).toStrictEqual(positions);
      expect(text).toMatch(/^[\w-]+$/);
    }),
  );
});

test.each([
  ['of another number of partitions', writePositions([undefined, undefined, undefined])],
  ['of none', ''],
  ['with a byte too many', Buffer.alloc(4 * 22 + 1).toString('base64url')],
  ['in other letters', `${writePositions([undefined, undefined, undefined, undefined])}=`],
  ['with bits that mean nothing', `${writePositions(Array(4).fill(undefined)).slice(0, -1)}B`],
])('a text %s is refused', (_, text) => {
  expect(() => readPositions(text, 4)).toThrow(expect.objectContaining({ code: 'INVALID_CURSOR' }));
});

test('a list that begins at a time begins behind all that was created before it, and before all others', () => {
  fc.assert(
    fc.property(places, fc.nat({ max: LAST_TIME }), fc.integer({ min: 1, max: 24 }), (place, from, shards) => {
      const beginnings = readPositions(writeBeginning(from, shards), shards);
      expect(beginnings).toHaveLength(shards);
      for (const beginning of beginnings) expect((beginning ?? '') < positionOf(place)).toBe(place.createdAt >= from);
    }),
  );
});
