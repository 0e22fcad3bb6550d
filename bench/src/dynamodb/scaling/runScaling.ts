import { createSeededRandom } from '@prism-gateway/testing';
import { formatTable } from '../../report/formatTable.ts';
import { checkPaper } from './checkPaper.ts';
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

function simulateTable(rate: number, numbers: readonly number[], sharedPartitions?: number): string[][] {
  const rows = numbers.map((shards) => {
    const random = createSeededRandom(shards);
    const load = { rate, shards, random, ...(sharedPartitions !== undefined && { sharedPartitions }) };
    return [String(shards), ...cellsOf(simulateLoad(load))];
  });
  return [head, ...rows];
}

interface ScalingOptions {
  /** New requests a second. */
  readonly rate: number;
  /** Whether `docs/scaling.md` is compared, and only what it tells is simulated. */
  readonly isCheck: boolean;
}

/**
 * Simulates a load with more and more shards, and prints what each number of them carries.
 *
 * @returns whether the document says the same, if it is compared
 */
export async function runScaling({ rate, isCheck }: ScalingOptions): Promise<boolean> {
  console.log(`${rate.toLocaleString('en')} new requests a second on one chain, each claimed and reported.\n`);
  const own = simulateTable(rate, SHARDS);
  console.log(`Each key of an index on a partition of its own:\n\n${formatTable(own).join('\n')}\n`);
  const shared = simulateTable(rate, isCheck ? SHARDS.slice(-1) : SHARDS, WARMED_PARTITIONS);
  console.log(`Keys of an index at random on ${WARMED_PARTITIONS} partitions, before any was split:\n`);
  console.log(formatTable(shared).join('\n'));
  if (!isCheck) return true;
  const [shards, accepted, refused] = shared.at(-1) ?? [];
  const sentence = `${shards} shards then accept ${accepted} a second, and ${refused} of creations get 503`;
  return await checkPaper('docs/scaling.md', { tables: [own], sentences: [sentence] });
}
