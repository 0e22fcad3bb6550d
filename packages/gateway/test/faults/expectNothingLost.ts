import { expect } from 'vitest';
import type { Aftermath, StormSize } from './runStorm.ts';
import { countFaults, describeFaults, type FaultyWorld } from './startFaultyWorld.ts';
import { FAULT_SHARE } from './stormShares.ts';

/** Fewest faults, as a part of what the share makes on average, that make a storm. */
const FEWEST = 0.5;

function countCalls({ counts }: FaultyWorld['proxies']['s3']): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Checks that a storm has cost nothing, and that it was one. */
export function expectNothingLost(aftermath: Aftermath, world: FaultyWorld, size: StormSize): void {
  const { verdict, queue, storage, witness, lostObjects } = aftermath;
  const { lost, double, wrong409, apart } = verdict;
  expect({ lost, double, wrong409, apart, lostObjects }).toEqual({
    lost: [],
    double: [],
    wrong409: [],
    apart: [],
    lostObjects: [],
  });
  expect({ strange: witness.strange, queue: queue.wrongs, storage: storage.wrongs }).toEqual({
    strange: [],
    queue: [],
    storage: [],
  });
  expect(queue.creations.acknowledged).toBeGreaterThanOrEqual(size.requests);
  expect(verdict.stored).toBeGreaterThanOrEqual(queue.creations.acknowledged);
  const proxies = Object.values(world.proxies);
  for (const proxy of proxies) expect(countFaults(proxy)).toBeGreaterThan(0);
  const calls = proxies.reduce((sum, proxy) => sum + countCalls(proxy), 0);
  const faults = proxies.reduce((sum, proxy) => sum + countFaults(proxy), 0);
  expect(faults).toBeGreaterThan(calls * FAULT_SHARE * FEWEST);
}

/** Says in one line what happened: calls, faults by kind and dependency, outages seen, and what was lost. */
export function describeStorm(name: string, aftermath: Aftermath, world: FaultyWorld): string {
  const { verdict, queue, storage, witness } = aftermath;
  const calls = Object.values(witness.countByStatus).reduce((sum, count) => sum + count, 0);
  const statuses = Object.entries(witness.countByStatus).map(([status, count]) => `${status}: ${count}`);
  const { claims, reports } = queue.readBacks;
  return [
    `faults, ${name} on ${world.engine}: ${queue.creations.acknowledged} requests, ${calls} calls (${statuses.join(', ')})`,
    `slowest ${Math.round(witness.slowestMs())} ms`,
    `presigned URLs used ${storage.uses.all} times, ${storage.uses.repeated} of them again`,
    describeFaults(world),
    `503s ${witness.countByStatus[503] ?? 0}, lost ${verdict.lost.length}, double ${verdict.double.length}, wrong 409 ${verdict.wrong409.length}`,
    `own writes found by reading back after 503 and 409: ${claims} claims, ${reports} reports`,
  ].join('; ');
}
