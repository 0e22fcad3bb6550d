import { expect } from 'vitest';
import type { Aftermath, StormSize } from './runStorm.ts';
import { countFaults, describeFaults, type FaultyWorld } from './startFaultyWorld.ts';

/**
 * Most outages of the store that clients may see when one call in ten fails, as a share of their calls: without further tries it would
 * be twice as much, since most calls take several steps. All seven tries of a step fail once in ten million times; what is allowed is
 * for a machine that is too busy to answer in time.
 */
const MOST_OUTAGES = 0.15;

/** Checks that bad weather has cost nothing. */
export function expectNothingLost(aftermath: Aftermath, size: StormSize): void {
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
    `503s ${witness.countByStatus[503] ?? 0} (${witness.outages.store} of the store), lost ${verdict.lost.length}, double ${verdict.double.length}, wrong 409 ${verdict.wrong409.length}`,
    `own writes found by reading back after 503 and 409: ${claims} claims, ${reports} reports`,
  ].join('; ');
}

/** Checks that something befell the calls to every dependency, and that tries again were not in vain. */
export function expectStorm({ witness }: Aftermath, world: FaultyWorld): void {
  for (const proxy of Object.values(world.proxies)) expect(countFaults(proxy)).toBeGreaterThan(0);
  const calls = Object.values(witness.countByStatus).reduce((sum, count) => sum + count, 0);
  expect(witness.outages.store / calls).toBeLessThan(MOST_OUTAGES);
}
