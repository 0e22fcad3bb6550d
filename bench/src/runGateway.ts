import { type BenchContext, FULL_SCALE, QUICK_SCALE } from './benchContext.ts';
import { loadRelayers } from './load/loadRelayers.ts';
import { measureClaim } from './measures/measureClaim.ts';
import { measureFeed } from './measures/measureFeed.ts';
import { measureGet } from './measures/measureGet.ts';
import { measureLife } from './measures/measureLife.ts';
import { measureList } from './measures/measureList.ts';
import { measureMemory } from './measures/measureMemory.ts';
import { measurePost } from './measures/measurePost.ts';
import { measureSign } from './measures/measureSign.ts';
import type { MeasureName, Options } from './options.ts';
import type { Report } from './report/printReport.ts';
import type { ResultRow } from './report/summariseRow.ts';

const RELAYERS = 8;

const MEASURE: Readonly<Record<MeasureName, (context: BenchContext) => Promise<ResultRow[]>>> = {
  get: measureGet,
  post: measurePost,
  claim: measureClaim,
  sign: measureSign,
  life: measureLife,
  feed: measureFeed,
  list: measureList,
  memory: measureMemory,
};

/** Runs the measures of the gateway that were asked for. */
export async function runGateway(options: Options): Promise<Report> {
  const relayers = await loadRelayers(RELAYERS);
  const scale = options.quick ? QUICK_SCALE : FULL_SCALE;
  const rows: ResultRow[] = [];
  for (const name of options.only) {
    console.error(`${name} …`);
    const stack = new AsyncDisposableStack();
    try {
      rows.push(...(await MEASURE[name]({ options, scale, relayers, stack })));
    } finally {
      await stack.disposeAsync();
    }
  }
  const work = Object.entries(scale).map(([what, count]) => `${what} ${count}`);
  const about = [
    'Gateway: STAGE=dev STORE=sqlite LOG_LEVEL=info (log to a file), flags as npm start has them, rate limits on and out of reach',
    `Load: autocannon in one process, ${options.connections} keep-alive connections, one call at a time on each`,
    `Runs: ${options.runs} of each in turn, after one to warm up; figures are medians, ratios are medians of the rounds' ratios`,
    `Work: ${work.join(', ')}`,
    ...(options.profile === undefined ? [] : ['Gateways ran under the CPU profiler, which slows them']),
  ];
  return { about, rows };
}
