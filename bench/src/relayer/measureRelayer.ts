import { type Program, startProgram, startWorld } from '@prism-gateway/testing/world';
import { measureLatency, measureRuns, type RunFigures } from './measureLatency.ts';
import type { RelayerBenchOptions } from './options.ts';
import { relayWrites } from './relayWrites.ts';
import { sendRaw } from './sendRaw.ts';
import { signWrites } from './signWrites.ts';

/** Writes of the batch whose gas is measured. */
export const BATCH_SIZE = 50;
/** Most requests that the lone relayer has in flight. */
const MAX_IN_FLIGHT = 512;

/** One figure a round. */
export interface RelayerFigures {
  readonly rawPerSecond: readonly number[];
  readonly relayedPerSecond: readonly number[];
  readonly throughputRatios: readonly number[];
  readonly singleGas: readonly number[];
  readonly batchGas: readonly number[];
  readonly gasRatios: readonly number[];
  readonly conflictsPerWin: readonly number[];
  /** From POST to `success` of each request of a light load, in milliseconds. */
  readonly latencies: readonly number[];
  /** Runs of one signer's writes, by confirmations. */
  readonly runs: Readonly<Record<1 | 3, readonly RunFigures[]>>;
}

/** Runs a measure, and ends what it has started, whatever happens. Not `using`: the checker of imports cannot read it. */
async function within<T>(measure: (stack: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const stack = new AsyncDisposableStack();
  try {
    return await measure(stack);
  } finally {
    await stack.disposeAsync();
  }
}

/** A relayer, and a way to end it whatever happens. */
async function startRelayers(stack: AsyncDisposableStack, envs: readonly Readonly<Record<string, string>>[]) {
  const started: Program[] = [];
  for (const env of envs) {
    started.push(
      stack.adopt(
        await startProgram('relayer', { env: { LOG_LEVEL: 'info', ...env } }),
        async ({ kill }) => await kill(),
      ),
    );
  }
  return started;
}

/** What has come of one measure. */
type Row = Omit<{ readonly [Name in keyof RelayerFigures]: number }, 'conflictsPerWin' | 'latencies' | 'runs'>;

/** Requests a second and gas, of one relayer and of raw sending in turn. */
async function measureLone(
  stack: AsyncDisposableStack,
  options: RelayerBenchOptions,
  tell: (line: string) => void,
): Promise<readonly Row[]> {
  const users = Math.max(options.requests, BATCH_SIZE);
  const world = stack.use(await startWorld({ users, relayers: 3 }));
  const [, rawKey] = world.relayerKeys;
  if (rawKey === undefined) throw new TypeError('the world has three relayers');
  const env = { ...world.relayerEnv(0), MAX_IN_FLIGHT: String(MAX_IN_FLIGHT), MAX_BATCH_SIZE: String(BATCH_SIZE) };
  const relayers = await startRelayers(stack, [env]);
  const rows: Row[] = [];
  // Users' nonces: 1 is next, after the creation of their prisms.
  let nonce = 1n;
  for (let round = 0; round <= options.rounds; round += 1) {
    const raw = await sendRaw(world, {
      key: rawKey,
      writes: await signWrites(world, { count: options.requests, nonce }),
    });
    const writes = await signWrites(world, { count: options.requests, nonce: nonce + 1n });
    const relayed = await relayWrites(world, { relayers, writes });
    nonce += 2n;
    const gasPerWrite = relayed.gasUsed / options.requests;
    tell(
      `${round === 0 ? 'warm-up' : `round ${round}`}: raw ${raw.perSecond.toFixed(0)}/s, relayed ${relayed.perSecond.toFixed(0)}/s in ${relayed.transactions} transactions`,
    );
    if (round === 0) continue;
    rows.push({
      rawPerSecond: raw.perSecond,
      relayedPerSecond: relayed.perSecond,
      throughputRatios: relayed.perSecond / raw.perSecond,
      singleGas: raw.gasPerCall,
      batchGas: gasPerWrite,
      gasRatios: gasPerWrite / raw.gasPerCall,
    });
  }
  return rows;
}

/** Conflicts of many relayers that look at one queue, all of them strangers to each other. */
async function measureRivals(
  stack: AsyncDisposableStack,
  options: RelayerBenchOptions,
  tell: (line: string) => void,
): Promise<readonly number[]> {
  const world = stack.use(await startWorld({ users: options.requests, relayers: options.rivals }));
  const relayers = await startRelayers(
    stack,
    world.relayerKeys.map((_, index) => world.relayerEnv(index)),
  );
  const figures: number[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    const writes = await signWrites(world, { count: options.requests, nonce: BigInt(round) });
    const { won, conflicts, perSecond } = await relayWrites(world, { relayers, writes });
    tell(
      `round ${round}: ${options.rivals} relayers won ${won} claims with ${conflicts} conflicts, ${perSecond.toFixed(0)}/s`,
    );
    figures.push(conflicts / won);
  }
  return figures;
}

/**
 * Measures the relayer over the real stack.
 *
 * @param tell - told how far it is
 */
export async function measureRelayer(
  options: RelayerBenchOptions,
  tell: (line: string) => void,
): Promise<RelayerFigures> {
  const rows = await within((stack) => measureLone(stack, options, tell));
  const conflictsPerWin = await within((stack) => measureRivals(stack, options, tell));
  tell(`light load: ${options.light} requests, one at a time`);
  const latencies = await within((stack) =>
    measureLatency(stack, { requests: options.light, blockMs: options.blockMs }),
  );
  const { rounds, blockMs } = options;
  const measureRunsWith = (confirmations: number) =>
    within((stack) => measureRuns(stack, { confirmations, rounds, blockMs }));
  tell('runs of one signer, with 1 and with 3 confirmations');
  const runs = { 1: await measureRunsWith(1), 3: await measureRunsWith(3) };
  const column = (name: keyof Row) => rows.map((row) => row[name]);
  return {
    rawPerSecond: column('rawPerSecond'),
    relayedPerSecond: column('relayedPerSecond'),
    throughputRatios: column('throughputRatios'),
    singleGas: column('singleGas'),
    batchGas: column('batchGas'),
    gasRatios: column('gasRatios'),
    conflictsPerWin,
    latencies,
    runs,
  };
}
