import { expect, test } from 'vitest';
import { summariseLatency } from './summariseLatency.ts';

test('reads off the nearest rank, whatever the order', () => {
  const latencies = Float64Array.from({ length: 200 }, (_, i) => ((i * 77) % 200) + 1);
  expect(summariseLatency(latencies)).toEqual({ p50: 100, p90: 180, p99: 198, max: 200 });
  expect(summariseLatency(Float64Array.of(7))).toEqual({ p50: 7, p90: 7, p99: 7, max: 7 });
});
