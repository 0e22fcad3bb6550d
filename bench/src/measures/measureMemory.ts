import type { BenchContext } from '../benchContext.ts';
import { readUsage } from '../processes/readUsage.ts';
import { type Gateway, startGateway } from '../processes/startGateway.ts';
import { median } from '../report/median.ts';
import { createBacklog } from './createBacklog.ts';
import { fetchTokens } from './fetchTokens.ts';
import type { ResultRow } from './measureResult.ts';
import { sampleResident } from './sampleResident.ts';

const records = 2_000;
const users = 20;

/**
 * Measures the largest resident size of a gateway under all kinds of calls at once: whole lives, reads, pages of 100, presigned URLs.
 *
 * @param context the bench
 * @returns one row; none where the system has no `/proc`
 */
export async function measureMemory(context: BenchContext): Promise<ResultRow[]> {
  const peaks: number[] = [];
  const residents: number[] = [];
  const starts: number[] = [];
  for (let run = 0; run < context.options.runs; run += 1) {
    const cleanup = context.cleanup.nest();
    const gateway = await startGateway({ ...context, cleanup });
    starts.push((await readUsage(gateway.pid))?.residentMb ?? Number.NaN);
    const samples = await sampleResident(gateway.pid, () => loadAll(context, gateway));
    const usage = await readUsage(gateway.pid);
    if (usage === undefined) return [];
    peaks.push(usage.peakMb);
    residents.push(median(samples));
    await cleanup.run();
  }
  return [
    {
      title: 'Memory under load, peak resident size',
      unit: 'MB',
      values: peaks,
      target: { of: 'value', is: 'at most', bound: 160 },
      notes: [`just started ${median(starts).toFixed(0)} MB; median under load ${median(residents).toFixed(0)} MB`],
    },
  ];
}

/** Everything at once, as clients of all kinds would. */
async function loadAll(context: BenchContext, gateway: Gateway): Promise<void> {
  const { load, scale, relayers, options } = context;
  const { port } = gateway;
  const requestIds = await createBacklog(context, { gateway, count: records });
  const tokens = await fetchTokens(gateway.url, users);
  const reads = await load.call('prepare', { kind: 'read', requestIds, count: scale.reads });
  const lists = await load.call('prepare', { kind: 'list', count: scale.lists, relayers });
  const signs = await load.call('prepare', { kind: 'sign', count: scale.signs, tokens });
  const replay = { port, expectedStatus: 200, keepRequestIds: false };
  await Promise.all([
    load.call('lives', { port, relayers, lives: scale.lives, connections: options.connections }),
    load.call('replay', { ...replay, batchId: reads, connections: 16 }),
    load.call('replay', { ...replay, batchId: lists, connections: 8 }),
    load.call('replay', { ...replay, batchId: signs, connections: 8 }),
  ]);
  for (const batchId of [reads, lists, signs]) await load.call('release', batchId);
}
