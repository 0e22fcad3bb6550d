import { type Program, startProgram, startWorld } from '@prism-gateway/testing/world';
import type { Options } from '../options.ts';
import type { Report } from '../report/printReport.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { countCalls } from './countCalls.ts';
import { measureLatency, measureRuns, RUN_WRITES } from './measureLatency.ts';
import { relayWrites } from './relayWrites.ts';
import { sendRaw } from './sendRaw.ts';
import { signWrites } from './signWrites.ts';

/** Rounds; requests of each, requests of the light load, relayers that compete, milliseconds between blocks and of idling, lone writes. */
const FULL = { rounds: 3, requests: 500, light: 100, rivals: 10, blockMs: 1000, idleMs: 60_000, lone: 5 };
/** Most of the time would go by in waiting for blocks. */
const QUICK = { rounds: 1, requests: 40, light: 3, rivals: 2, blockMs: 250, idleMs: 5000, lone: 1 };
/** Writes of the batch whose gas is measured. */
const BATCH_SIZE = 50;
/** Most requests that the lone relayer has in flight. */
const MAX_IN_FLIGHT = 512;
/** Milliseconds between blocks while calls are counted. */
const CALLS_BLOCK_MS = 2000;

type Scale = typeof FULL;
type Measure = (stack: AsyncDisposableStack, scale: Scale) => Promise<ResultRow[]>;

/** Starts relayers, which end with the stack. */
async function startRelayers(stack: AsyncDisposableStack, envs: readonly Readonly<Record<string, string>>[]) {
  const started: Program[] = [];
  for (const env of envs) {
    const relayer = await startProgram('relayer', { env: { LOG_LEVEL: 'info', ...env } });
    started.push(stack.adopt(relayer, async ({ kill }) => await kill()));
  }
  return started;
}

/** Requests a second and gas, of one relayer and of raw sending in turn. */
const measureLone: Measure = async (stack, { requests, rounds }) => {
  const world = stack.use(await startWorld({ users: requests, relayers: 3 }));
  const [, rawKey] = world.relayerKeys;
  if (rawKey === undefined) throw new TypeError('the world has three relayers');
  const env = { ...world.relayerEnv(0), MAX_IN_FLIGHT: String(MAX_IN_FLIGHT), MAX_BATCH_SIZE: String(BATCH_SIZE) };
  const relayers = await startRelayers(stack, [env]);
  const raw: { readonly perSecond: number; readonly gasPerCall: number }[] = [];
  const relayed: typeof raw = [];
  // Users' nonces: 1 is next, after the creation of their prisms.
  let nonce = 1n;
  for (let round = 0; round <= rounds; round += 1) {
    const sent = await sendRaw(world, { key: rawKey, writes: await signWrites(world, { count: requests, nonce }) });
    const writes = await signWrites(world, { count: requests, nonce: nonce + 1n });
    const { perSecond, gasUsed } = await relayWrites(world, { relayers, writes });
    nonce += 2n;
    // The first one warms up.
    if (round === 0) continue;
    raw.push(sent);
    relayed.push({ perSecond, gasPerCall: gasUsed / requests });
  }
  return [
    {
      title: 'POST to reported',
      unit: 'requests/s',
      values: relayed.map(({ perSecond }) => perSecond),
      baseline: { title: 'raw sending', values: raw.map(({ perSecond }) => perSecond) },
      target: { of: 'ratio', is: 'at least', bound: 0.5 },
    },
    {
      title: `Gas a write, gathered up to ${BATCH_SIZE}`,
      unit: 'gas',
      values: relayed.map(({ gasPerCall }) => gasPerCall),
      baseline: { title: 'single', values: raw.map(({ gasPerCall }) => gasPerCall) },
      target: { of: 'ratio', is: 'at most', bound: 0.7 },
    },
  ];
};

/** Conflicts of many relayers that look at one queue, all of them strangers to each other. */
const measureRivals: Measure = async (stack, { requests, rounds, rivals }) => {
  const world = stack.use(await startWorld({ users: requests, relayers: rivals }));
  const relayers = await startRelayers(
    stack,
    world.relayerKeys.map((_, index) => world.relayerEnv(index)),
  );
  const conflictsPerWin: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const writes = await signWrites(world, { count: requests, nonce: BigInt(round) });
    const { won, conflicts } = await relayWrites(world, { relayers, writes });
    conflictsPerWin.push(conflicts / won);
  }
  const target = { of: 'value', is: 'at most', bound: 0.1 } as const;
  return [{ title: `409s a won claim, ${rivals} relayers`, unit: 'a claim', values: conflictsPerWin, target }];
};

/** From POST to `success` at light load: one block and a little, two blocks and a little. */
const measureLight: Measure = async (stack, { light, blockMs }) => {
  const latencies = (await measureLatency(stack, { requests: light, blockMs })).toSorted((a, b) => a - b);
  return ([0.5, 0.99] as const).map((share) => ({
    title: `POST to success at light load, p${share * 100}`,
    unit: 'ms',
    // An index of a list that is not empty.
    values: [latencies[Math.ceil(share * latencies.length) - 1]!],
    target: { of: 'value', is: 'at most', bound: share === 0.5 ? blockMs + 150 : 2 * blockMs + 300 } as const,
  }));
};

/** Counts the calls that a provider of nodes bills, with blocks of two seconds. */
const measureCalls: Measure = async (stack, { idleMs, lone }) => {
  const { idle, write } = await countCalls(stack, { idleMs, writes: lone, blockMs: CALLS_BLOCK_MS });
  const target = { of: 'value', is: 'at most', bound: 15 } as const;
  return [
    { title: 'RPC calls of an idle relayer', unit: 'a minute', values: [idle.relayer], target },
    { title: 'RPC calls of an idle watchtower', unit: 'a minute', values: [idle.watchtower], target },
    { title: 'RPC calls of a lone write', unit: 'calls', values: write, target },
  ];
};

/** With one confirmation until all is reported; with more, a report waits for them: until all is carried out. */
function measureRunsWith(confirmations: 1 | 3): Measure {
  return async (stack, { rounds, blockMs }) => {
    const figures = await measureRuns(stack, { confirmations, rounds, blockMs });
    const what = `${RUN_WRITES} writes of a signer, ${confirmations} confirmation${confirmations === 1 ? '' : 's'}`;
    const atMost = (bound: number) => ({ of: 'value', is: 'at most', bound }) as const;
    return [
      {
        title: `${what}, ${confirmations === 1 ? 'reported' : 'carried out'}`,
        unit: 's',
        values: figures.map((run) => (confirmations === 1 ? run.reportedSeconds : run.carriedOutSeconds)),
        target: atMost(4),
      },
      {
        title: `${what}, together in`,
        unit: 'transactions',
        values: figures.map(({ transactions }) => transactions),
        target: atMost(3),
      },
    ];
  };
}

/** Measures the relayer over the real stack: Anvil, contracts, gateway, relayer processes. */
export async function runRelayer({ quick }: Options): Promise<Report> {
  const scale = quick ? QUICK : FULL;
  const rows: ResultRow[] = [];
  const runs = [measureRunsWith(1), measureRunsWith(3)];
  for (const measure of [measureLone, measureRivals, measureLight, ...runs, measureCalls]) {
    const stack = new AsyncDisposableStack();
    try {
      rows.push(...(await measure(stack, scale)));
    } finally {
      await stack.disposeAsync();
    }
  }
  const about = [
    'Chain: Anvil, a block a transaction; gateway: SQLite, no rate limits; all on this machine, with the load generator',
    `Work: writes of 20 bytes by ${scale.requests} users, one each; ${scale.rounds} rounds after one to warm up; figures are medians`,
    'Raw sending: encode, sign and send from one account, 32 calls at once, until the last block. Relayer: MAX_IN_FLIGHT=512,',
    `MAX_BATCH_SIZE=50, from the first of 16 connections' POST to the last report. Conflicts: ${scale.rivals} relayers as they are by default`,
    'RPC calls: one node for each program, blocks of 2 s; those of a write are what comes beyond the idle rate',
    `Light load: one request at a time, ${scale.light} of them, blocks of ${scale.blockMs} ms, CONFIRMATIONS=1; runs: all posted at once`,
  ];
  return { about, rows };
}
