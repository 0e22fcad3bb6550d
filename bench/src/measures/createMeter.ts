import { type Load, type LoadResult, runLoad } from '../load/runLoad.ts';
import { readUsage } from '../processes/readUsage.ts';
import { median } from '../report/median.ts';

/** Watches the runs of one measure on one server: latency, and how busy server and load were. */
export interface Meter {
  run<State extends object>(load: Omit<Load<State>, 'port'>): Promise<LoadResult>;
  /** The figures as one sentence. */
  describe(): string;
}

/** The value below which a share of a run's calls lie (nearest rank). */
export function percentile({ latencies }: LoadResult, share: number): number {
  return latencies[Math.max(0, Math.ceil(share * latencies.length) - 1)] ?? Number.NaN;
}

const createSeen = () => ({
  p50: [] as number[],
  p99: [] as number[],
  loadCores: [] as number[],
  serverCores: [] as number[],
  serverUs: [] as number[],
});

/** Makes a meter for one server. */
export function createMeter(name: string, { port, pid }: { readonly port: number; readonly pid: number }): Meter {
  const seen = createSeen();
  return {
    async run(load) {
      const before = await readUsage(pid);
      const result = await runLoad({ ...load, port });
      const after = await readUsage(pid);
      seen.p50.push(percentile(result, 0.5));
      seen.p99.push(percentile(result, 0.99));
      seen.loadCores.push((result.cpuSeconds / result.elapsedMs) * 1000);
      if (before && after) {
        const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
        seen.serverCores.push((cpuSeconds / result.elapsedMs) * 1000);
        seen.serverUs.push((cpuSeconds / result.rounds) * 1e6);
      }
      return result;
    },
    describe() {
      const at = (name: keyof typeof seen, digits = 2) => median(seen[name]).toFixed(digits);
      const busy =
        seen.serverUs.length > 0 ? `, ${at('serverCores')} cores busy, ${at('serverUs', 0)} µs of CPU each` : '';
      return `${name}: a call p50 ${at('p50')} ms, p99 ${at('p99')} ms${busy}; load ${at('loadCores')} cores`;
    },
  };
}
