import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  endOf,
  laneBytes,
  lanePositionBytes,
  positionBytes,
  positionOf,
  rangeBehind,
  readCursor,
  readPosition,
  startOf,
  writeCursor,
} from './position.ts';

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

test('a position comes back from a cursor', () => {
  fc.assert(
    fc.property(places.map(positionOf), (position) => {
      expect(readCursor(writeCursor(position))).toBe(position);
    }),
  );
});

const zeros = writeCursor('0'.repeat(44));
test.each([
  ['of nothing', ''],
  ['with a byte too many', Buffer.alloc(23).toString('base64url')],
  ['in other letters', `${zeros}=`],
  ['with bits that mean nothing', `${zeros.slice(0, -1)}B`],
])('a text %s is refused', (_, text) => {
  expect(() => readCursor(text)).toThrow(expect.objectContaining({ code: 'INVALID_CURSOR' }));
});

test('a list that begins at a time begins behind all that was created before it, and before all others', () => {
  fc.assert(
    fc.property(places, fc.nat({ max: LAST_TIME }), (place, from) => {
      expect(startOf(from) < positionOf(place)).toBe(place.createdAt >= from);
      expect(positionOf(place) <= endOf(from)).toBe(place.createdAt <= from);
    }),
  );
});

test('what lies behind a position is all of its lane that comes after it, and nothing of another one', () => {
  const lanes = fc.constantFrom('', 'a', 'a:1', 'a:10', 'b');
  fc.assert(
    fc.property(places, places, lanes, lanes, fc.constantFrom('asc', 'desc'), (after, other, lane, of, order) => {
      const range = rangeBehind(laneBytes(lane), positionOf(after), order);
      const key = lanePositionBytes(of, positionOf(other));
      const isWithin =
        range !== undefined && Buffer.compare(range.from, key) <= 0 && Buffer.compare(key, range.to) <= 0;
      const [low, high] = order === 'asc' ? [after, other] : [other, after];
      expect(isWithin).toBe(lane === of && positionOf(low) < positionOf(high));
    }),
  );
});
