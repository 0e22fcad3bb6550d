import type { LoadResult } from '../load/loadResult.ts';
import { readUsage } from '../processes/readUsage.ts';
import { median } from '../report/median.ts';

/** Watches the runs of one measure: latency, and how busy server and load were. */
export interface RunLog {
  /** Runs one load and remembers what it cost. */
  watch(run: () => Promise<LoadResult>): Promise<LoadResult>;
  /** What was seen, as one sentence. */
  describe(): string;
}

/**
 * Makes a log for one server.
 *
 * @param name of the server, for the sentence
 * @param pid of the server
 * @returns the log
 */
export function createRunLog(name: string, pid: number): RunLog {
  const p50: number[] = [];
  const p99: number[] = [];
  const serverCores: number[] = [];
  const serverUs: number[] = [];
  const loadCores: number[] = [];
  return {
    async watch(run) {
      const before = await readUsage(pid);
      const result = await run();
      const after = await readUsage(pid);
      p50.push(result.latencyMs.p50);
      p99.push(result.latencyMs.p99);
      loadCores.push((result.loadCpuSeconds / result.elapsedMs) * 1000);
      if (before && after) {
        const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
        serverCores.push((cpuSeconds / result.elapsedMs) * 1000);
        serverUs.push((cpuSeconds / result.done) * 1e6);
      }
      return result;
    },
    describe() {
      const busy =
        serverCores.length === 0
          ? ''
          : `, ${median(serverCores).toFixed(2)} cores busy, ${median(serverUs).toFixed(1)} µs of CPU each`;
      return `${name}: p50 ${median(p50).toFixed(2)} ms, p99 ${median(p99).toFixed(2)} ms${busy}; load ${median(loadCores).toFixed(2)} cores`;
    },
  };
}
