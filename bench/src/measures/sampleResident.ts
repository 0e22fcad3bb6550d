import { setTimeout as sleep } from 'node:timers/promises';
import { readUsage } from '../processes/readUsage.ts';

const intervalMs = 100;

/**
 * Samples a process's resident size while something goes on.
 *
 * @param pid process id
 * @param work what goes on
 * @returns sizes in MB, ten a second, at least one
 */
export async function sampleResident(pid: number, work: () => Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  const over = new AbortController();
  const sampling = (async () => {
    do {
      samples.push((await readUsage(pid))?.residentMb ?? Number.NaN);
      // The end of the work cuts the last wait short.
      await sleep(intervalMs, undefined, { signal: over.signal }).catch(() => {});
    } while (!over.signal.aborted);
  })();
  try {
    await work();
  } finally {
    over.abort();
    await sampling;
  }
  return samples;
}
