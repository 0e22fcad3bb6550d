import type { BenchContext } from '../benchContext.ts';
import { createBody } from '../load/createParams.ts';
import type { BenchRelayer } from '../load/loadRelayers.ts';
import { type Call, replay } from '../load/runLoad.ts';
import { startGateway } from '../processes/startGateway.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { alternate } from './alternate.ts';
import { createMeter, percentile } from './createMeter.ts';

/** A chain that holds no more than a full page, behind all others. */
const OWN_CHAIN = { chainName: 'eip155:1', count: 100 } as const;
/** Calls of a run that reads the stats. */
const STATS_CALLS = 200;
/** How far back timestamps go; the service takes five minutes, and the run needs some of them. */
const OLDEST_MS = 120_000;

/**
 * Prepares first pages of what is pending, by relayers in turn. What is signed differs by its timestamp alone, so each call gets another
 * millisecond.
 */
export function listCalls(relayers: readonly BenchRelayer[], count: number, chainName?: string): Call[] {
  const now = Date.now();
  const chain = chainName === undefined ? '' : `&chainName=${encodeURIComponent(chainName)}`;
  return Array.from({ length: count }, (_, i) => {
    // `i % length` is an index of a list that is not empty.
    const relayer = relayers[i % relayers.length]!;
    const headers = relayer.signHeaders({ method: 'GET', path: '/requests', timestampMs: now - (i % OLDEST_MS) });
    return { method: 'GET', path: `/requests?status=pending&limit=100${chain}`, headers };
  });
}

function* bodiesOf(backlog: number): Generator<object> {
  for (let i = 0; i < backlog; i++) yield createBody();
  for (let i = 0; i < OWN_CHAIN.count; i++) yield createBody({ chainName: OWN_CHAIN.chainName });
}

/** Starts a gateway with a backlog, and makes the measures of it: medians, one call at a time. */
async function startFilled(context: BenchContext, backlog: number) {
  const { scale, relayers } = context;
  console.error(`  a backlog of ${backlog.toLocaleString('en-US')}`);
  const gateway = await startGateway(context, { backlog: bodiesOf(backlog) });
  const meter = createMeter(`${backlog.toLocaleString('en-US')} pending`, gateway);
  const medianOf = async (calls: readonly Call[]) =>
    percentile(await meter.run({ connections: 1, rounds: calls.length, steps: [replay(calls)] }), 0.5);
  const stats = { method: 'GET', path: '/admin/stats', headers: { 'x-admin-key': gateway.adminKey } } as const;
  return {
    page: () => medianOf(listCalls(relayers, scale.lists)),
    ownPage: () => medianOf(listCalls(relayers, scale.lists, OWN_CHAIN.chainName)),
    stats: () => medianOf(Array.from({ length: STATS_CALLS }, () => stats)),
    describe: meter.describe,
  };
}

/** Measures the median latency of first pages and of the administrator's stats, with a large backlog against a small one. */
export async function measureList(context: BenchContext): Promise<ResultRow[]> {
  const { options, scale } = context;
  const small = await startFilled(context, scale.smallBacklog);
  const large = await startFilled(context, scale.largeBacklog);
  const compare = async (name: 'page' | 'ownPage' | 'stats') => {
    const { baseline, measure } = await alternate(options.runs, { baseline: small[name], measure: large[name] });
    return { unit: 'ms', values: measure, baseline: { title: `with ${scale.smallBacklog} pending`, values: baseline } };
  };
  const pending = `with ${scale.largeBacklog.toLocaleString('en-US')} pending, p50`;
  const sameAsSmall = { of: 'ratio', is: 'at most', bound: 1.3 } as const;
  return [
    {
      title: `first page of 100 ${pending}`,
      ...(await compare('page')),
      target: sameAsSmall,
      notes: [small.describe(), large.describe()],
    },
    { title: `first page of one chain behind another ${pending}`, ...(await compare('ownPage')), target: sameAsSmall },
    {
      title: `GET /admin/stats ${pending}`,
      ...(await compare('stats')),
      target: { of: 'value', is: 'at most', bound: 5 },
    },
  ];
}
