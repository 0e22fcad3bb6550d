import type { BenchContext } from '../benchContext.ts';
import { replay, runLoad } from '../load/runLoad.ts';
import { readUsage } from '../processes/readUsage.ts';
import { fetchTokens, type Gateway, startGateway } from '../processes/startGateway.ts';
import { median } from '../report/median.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { createRequests, readCall } from './createRequests.ts';
import { loadLives } from './measureLife.ts';
import { listCalls } from './measureList.ts';
import { signCall } from './measureSign.ts';

const RECORDS = 2_000;
const USERS = 20;

/** Everything at once, as clients of all kinds would: whole lives, reads, pages of 100, presigned URLs. */
async function loadAll({ options, scale, relayers }: BenchContext, { url, port }: Gateway): Promise<void> {
  const requestIds = await createRequests(port, RECORDS);
  const tokens = await fetchTokens(url, USERS);
  // `i % USERS` is an index of the tokens.
  const signs = Array.from({ length: scale.signs }, (_, i) => signCall(tokens[i % USERS]!));
  const [reads, lists] = [requestIds.map(readCall), listCalls(relayers, scale.lists)];
  await Promise.all([
    runLoad({ port, connections: options.connections, ...loadLives(relayers, scale.lives) }),
    runLoad({ port, connections: 16, rounds: scale.reads, steps: [replay(reads)] }),
    runLoad({ port, connections: 8, rounds: scale.lists, steps: [replay(lists)] }),
    runLoad({ port, connections: 8, rounds: scale.signs, steps: [replay(signs)] }),
  ]);
}

/** Measures the largest resident size of a gateway under all kinds of calls, a new one each run. @returns no row without `/proc` */
export async function measureMemory(context: BenchContext): Promise<ResultRow[]> {
  const peaks: number[] = [];
  const starts: number[] = [];
  for (let run = 0; run < context.options.runs; run += 1) {
    const stack = new AsyncDisposableStack();
    try {
      const gateway = await startGateway({ ...context, stack });
      starts.push((await readUsage(gateway.pid))?.residentMb ?? Number.NaN);
      await loadAll(context, gateway);
      const usage = await readUsage(gateway.pid);
      if (usage === undefined) return [];
      peaks.push(usage.peakMb);
    } finally {
      await stack.disposeAsync();
    }
  }
  return [
    {
      title: 'Memory under load, peak resident size',
      unit: 'MB',
      values: peaks,
      target: { of: 'value', is: 'at most', bound: 160 },
      notes: [`just started ${median(starts).toFixed(0)} MB`],
    },
  ];
}
