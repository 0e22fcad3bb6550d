import { createSeededRandom } from '@prism-gateway/testing';
import { formatTable } from '../../report/formatTable.ts';
import { type SimulatedResult, simulateLoad } from './simulateLoad.ts';

const SHARDS = [1, 4, 8, 12, 16, 20, 22, 24];
/** Partitions of an index that was warmed for 100,000 writes a second, twice what 10,000 requests need. */
const WARMED_PARTITIONS = 100;

const percent = (share: number) => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

function cellsOf({ accepted, refusedShare, throttledShare, lagSeconds }: SimulatedResult): string[] {
  return [
    Math.round(accepted).toLocaleString('en'),
    percent(refusedShare),
    percent(throttledShare),
    `${lagSeconds.toFixed(2)} s`,
  ];
}

const head = ['INDEX_SHARDS', 'accepted a second', '503', 'throttled at first', 'list of pending late by'];

function simulateTable(rate: number, title: string, sharedPartitions?: number): string {
  const rows = SHARDS.map((shards) => {
    const random = createSeededRandom(shards);
    const load = { rate, shards, random, ...(sharedPartitions !== undefined && { sharedPartitions }) };
    return [String(shards), ...cellsOf(simulateLoad(load))];
  });
  return `${title}\n\n${formatTable([head, ...rows]).join('\n')}`;
}

/**
 * Simulates a load with more and more shards, and prints what each number of them carries.
 *
 * @param rate new requests a second
 */
export function runScaling(rate: number): void {
  console.log(`${rate.toLocaleString('en')} new requests a second on one chain, each claimed and reported.\n`);
  console.log(simulateTable(rate, 'Each key of an index on a partition of its own:'));
  const title = `Keys of an index at random on ${WARMED_PARTITIONS} partitions, before any was split:`;
  console.log(`\n${simulateTable(rate, title, WARMED_PARTITIONS)}`);
}
