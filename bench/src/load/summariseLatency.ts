import type { LatencySummary } from './loadResult.ts';

/**
 * Orders latencies and reads off the usual points (nearest rank).
 *
 * @param latenciesMs one entry a unit of work, in milliseconds; at least one
 * @returns the summary
 */
export function summariseLatency(latenciesMs: Float64Array): LatencySummary {
  const sorted = latenciesMs.toSorted();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
