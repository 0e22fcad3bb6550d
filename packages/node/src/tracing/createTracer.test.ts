import { expect, test } from 'vitest';
import { formatTraceParent, parseTraceParent } from './createTracer.ts';

const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];

test.each([
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  [`00-${traceId}-${spanId}-03`, true],
  [`01-${traceId}-${spanId}-01-of-a-later-version`, true],
])('reads %s', (header, sampled) => {
  expect(parseTraceParent(header)).toEqual({ traceId, spanId, sampled });
});

test.each([
  null,
  undefined,
  '',
  'garbage',
  `ff-${traceId}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}`,
])('takes %s for none', (header) => {
  expect(parseTraceParent(header)).toBeUndefined();
});

test('writes what it reads', () => {
  const header = `00-${traceId}-${spanId}-01`;
  expect(formatTraceParent({ traceId, spanId, sampled: true })).toBe(header);
});
