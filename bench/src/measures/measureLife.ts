import type { BenchContext } from '../benchContext.ts';
import { hex } from '../load/createParams.ts';
import type { BenchRelayer } from '../load/loadRelayers.ts';
import type { Call, Load, Step } from '../load/runLoad.ts';
import { startGraphilePeer } from '../peers/startGraphilePeer.ts';
import { startGateway } from '../processes/startGateway.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { alternate } from './alternate.ts';
import { createMeter } from './createMeter.ts';
import { createCall, readRequestId } from './createRequests.ts';
import { updateCall } from './measureClaim.ts';

/** Requests of one call that claims or reports, if they come in batches. */
export const BATCH = 50;

const newTxHash = () => hex(32);

/** The requests whose lives a connection leads. */
interface Lives {
  relayer?: BenchRelayer;
  requestIds?: string[];
}

/** Creates a request, by whose id the later steps go. */
const create: Step<Lives> = {
  make: createCall,
  take(body, state) {
    state.requestIds = [...(state.requestIds ?? []), readRequestId(body)];
  },
};

/** Has relayers take turns. */
function takeTurns(relayers: readonly BenchRelayer[]) {
  let turn = 0;
  return (state: Lives): BenchRelayer => {
    // `turn % length` is an index of a list that is not empty.
    state.relayer ??= relayers[turn++ % relayers.length]!;
    return state.relayer;
  };
}

/** Whole lives, one after another on each connection: create, claim, report. Claims and reports are signed on the way. */
export function loadLives(relayers: readonly BenchRelayer[], lives: number): Omit<Load<Lives>, 'port' | 'connections'> {
  const relayerOf = takeTurns(relayers);
  const update = (state: Lives, change: object) => updateCall(relayerOf(state), state.requestIds?.[0] ?? '', change);
  const claim: Step<Lives> = { make: (state) => update(state, { status: 'processing' }) };
  const report: Step<Lives> = { make: (state) => update(state, { status: 'success', txHash: newTxHash() }) };
  return { rounds: lives, steps: [create, claim, report] };
}

/** The same with claims and reports in batches: each connection creates fifty one by one, claims them by one call and reports by another. */
export function loadBatches(
  relayers: readonly BenchRelayer[],
  lives: number,
): Omit<Load<Lives>, 'port' | 'connections'> {
  const relayerOf = takeTurns(relayers);
  function post(state: Lives, path: string, json: object): Call {
    const body = JSON.stringify(json);
    const signed = relayerOf(state).signHeaders({ method: 'POST', path, body });
    return { method: 'POST', path, headers: { 'content-type': 'application/json', ...signed }, body };
  }
  /** @throws Error unless all have moved: a life that was not led is none */
  const take = (body: string) => {
    if (!body.includes(`"count":${BATCH},"conflicts":[]`)) throw new Error(`Not all have moved: ${body.slice(-200)}`);
  };
  const reportOf = (requestId: string) => ({ requestId, status: 'success', txHash: newTxHash() });
  const claim: Step<Lives> = {
    make: (state) => post(state, '/requests/claims', { requestIds: state.requestIds }),
    take,
  };
  const report: Step<Lives> = {
    make: (state) => post(state, '/requests/reports', { reports: state.requestIds?.map(reportOf) }),
    take,
  };
  return { rounds: Math.ceil(lives / BATCH), steps: [...Array.from({ length: BATCH }, () => create), claim, report] };
}

/**
 * Measures whole lives of requests, over HTTP and with all signatures checked, one by one and with claims and reports in batches; with
 * `--peers` against graphile-worker, which adds and runs one empty job, without HTTP.
 */
export async function measureLife(context: BenchContext): Promise<ResultRow[]> {
  const { options, scale, relayers } = context;
  const { connections, runs } = options;
  const gateway = await startGateway(context);
  const [single, batched] = [createMeter('gateway', gateway), createMeter('gateway', gateway)];
  const peer = options.peers ? await startGraphilePeer(context) : undefined;
  const figures = await alternate(runs, {
    lives: async () => (await single.run({ ...loadLives(relayers, scale.lives), connections })).perSecond,
    batches: async () => (await batched.run({ ...loadBatches(relayers, scale.lives), connections })).perSecond * BATCH,
    peer: async () => (await peer?.run()) ?? Number.NaN,
  });
  const rowOf = (title: string, values: readonly number[], note: string, bound: number): ResultRow => {
    const row = { title, unit: 'lives/s', values, notes: [note] };
    if (peer === undefined) return row;
    return {
      ...row,
      title: `${title}, against ${peer.title}`,
      baseline: { title: peer.title, values: figures.peer },
      target: { of: 'ratio', is: 'at least', bound },
      notes: [note, peer.describe],
    };
  };
  return [
    rowOf('Whole life', figures.lives, single.describe(), 3),
    rowOf(`Whole life in batches of ${BATCH}`, figures.batches, batched.describe(), 5),
  ];
}
