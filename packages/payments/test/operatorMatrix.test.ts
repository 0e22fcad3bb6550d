import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { creditTokenAbi } from '@prism-gateway/contracts';
import { bareExchangeAbi, bareExchangeBytecode } from '@prism-gateway/devnet/test-tokens';
import { createSeededRandom, startRpcFaultProxy } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attend } from '../scripts/demo/attend.ts';
import { type Accident, PROCEDURES, type Procedure } from '../scripts/demo/procedures.ts';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { KEY_FACTS } from '../src/chain/createKeyWatch.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import { OPEN_STATES } from '../src/journal/paymentState.ts';
import { computeCreditsOwed } from '../src/payments/computeCredits.ts';
import { NODE_FAULTS, type NodeFault } from './rig/nodeFaults.ts';
import { type RunningInstance, runInstance } from './rig/runInstance.ts';
import { KILL_POINTS, type KillPoint, startDoomed } from './rig/startDoomed.ts';

const RATE = 1000n;
const AMOUNT = 3_000_000n;
const OWED = computeCreditsOwed(AMOUNT, RATE);
/** For so many blocks the node is what it is; then somebody mends it. */
const FAULTY_BLOCKS = 12n;
/** Combinations under way at a time. */
const LANES = 6;

/** One accident, what is done then, and on which node. */
interface Combination {
  readonly name: string;
  readonly act: Procedure;
  readonly point: KillPoint;
  readonly fault: NodeFault;
}

let rig: PaymentsRig;
let otherExchange: string;
let machines = 0;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 700 });
  const { creditToken, stablecoin } = rig.deployment;
  const args = [stablecoin, creditToken, RATE];
  const exchange = await rig.deploy({ abi: bareExchangeAbi, bytecode: bareExchangeBytecode, args });
  await rig.giveCredits(exchange, 10n ** 25n);
  otherExchange = exchange;
});

afterAll(() => rig.close());

function newFolder(): string {
  return join(rig.dir, `machine-${++machines}`);
}

const COMBINATIONS: readonly Combination[] = Object.entries(PROCEDURES).flatMap(([procedure, act]) =>
  KILL_POINTS.flatMap((point) =>
    NODE_FAULTS.map((fault) => ({
      name: `killed ${point.when} ${point.what}; ${procedure}; ${fault.name}`,
      act,
      point,
      fault,
    })),
  ),
);

/** A scene of its own for each combination: key, frontend, payment, machines. */
async function play({ act, point, fault }: Combination, random: () => number): Promise<void> {
  const fromBlock = await rig.client.getBlockNumber({ cacheTime: 0 });
  const [key, other, frontend] = [await rig.fundKey(), await rig.fundKey(), await rig.startFrontend()];
  const payouts = () => rig.deployPayouts([key.address, other.address]);
  const guard: Record<string, string> = fault.needsContract ? { PAYOUTS_ADDRESS: await payouts() } : {};
  const line = await startRpcFaultProxy({ target: rig.rpcUrl });
  const alive: { readonly instance: RunningInstance; readonly key: RigKey; readonly folder: string }[] = [];
  const settingsOf = (owner: RigKey, folder: string, more: Readonly<Record<string, string>> = {}) => ({
    ...rig.settingsFor(owner, [], frontend),
    DATA_DIR: folder,
    LOCK_DIR: join(folder, 'locks'),
    SEARCH_FROM_BLOCK: `${fromBlock}`,
    MAX_RETRIES: '1',
    // A loaded machine takes its time; a takeover waits for twice as long.
    RPC_TIMEOUT_MS: '3000',
    TAKEOVER_WAIT_MS: '6000',
    ...guard,
    ...more,
  });

  async function start(owner: RigKey, folder: string, more: Readonly<Record<string, string>> = {}) {
    const instance = await runInstance({ ...settingsOf(owner, folder, more), RPC_URL: line.url });
    alive.push({ instance, key: owner, folder });
    return instance;
  }

  async function runIdle(owner: RigKey, folder: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
    const nobody = await rig.startFrontend();
    const instance = await runInstance({ ...settingsOf(owner, folder, more), FRONTEND_URL: nobody.url });
    await waitForSettled(instance);
    await instance.stop();
    await nobody.close();
  }

  const [first, disk, backup] = [newFolder(), newFolder(), newFolder()];
  const doomed = await startDoomed(settingsOf(key, first), { point, disk, self: key.address });
  await waitForSettled(doomed.instance);
  await command(['backup', backup], first);
  const { walletAddress } = rig.addPayment(AMOUNT, frontend);
  await doomed.died;
  const dead = doomed.bury();
  mkdirSync(backup, { recursive: true });
  const accident: Accident = {
    key,
    disk,
    backup,
    otherExchange,
    payouts,
    otherKey: async () => other,
    newFolder,
    start,
    runIdle,
  };
  try {
    line.setPlan(fault.plan(random));
    await act(accident);
    await waitForBlocks(FAULTY_BLOCKS);
    line.setPlan(() => undefined);
    const isTold = () => frontend.store.list().every(({ txHash }) => txHash !== undefined);
    const isAtRest = () => alive.every(({ instance }) => instance.relayer.journal.list(OPEN_STATES).length === 0);
    await waitUntil(
      async () => {
        if (isTold() && isAtRest()) return true;
        await seeToIt();
        return false;
      },
      { timeoutMs: 3 * PATIENCE_MS, what: 'not paid, or not at rest' },
    );
    const transfer = { address: rig.deployment.creditToken, abi: creditTokenAbi, eventName: 'Transfer' } as const;
    const paid = await rig.client.getContractEvents({ ...transfer, args: { to: walletAddress }, fromBlock });
    expect(paid.map(({ args }) => args.value)).toEqual([OWED]);
  } catch (error) {
    throw new Error(describeAll(alive.map(({ instance }) => instance)), { cause: error });
  } finally {
    await Promise.all([dead, ...alive.map(({ instance }) => instance.stop())]);
    await line.stop();
    await frontend.close();
  }

  /** What the documentation has a person do. */
  async function seeToIt(): Promise<void> {
    for (const one of [...alive]) {
      const hasTwin = alive.some((twin) => twin !== one && twin.key === one.key);
      const { journal } = one.instance.relayer;
      if ((await attend(rig, { ...one, journal, hasTwin, walletAddress })) === 'leave it') continue;
      await one.instance.stop();
      alive.splice(alive.indexOf(one), 1);
    }
  }
}

async function command(argv: readonly string[], folder: string): Promise<void> {
  await runCommand(argv, { environment: { DATA_DIR: folder }, print: () => undefined });
}

const waitForSettled = ({ relayer }: RunningInstance) =>
  waitUntil(() => relayer.journal.fact(KEY_FACTS.next) !== undefined, {
    timeoutMs: PATIENCE_MS,
    what: 'it is not settled what the key has done',
  });

async function waitForBlocks(count: bigint): Promise<void> {
  const end = (await rig.client.getBlockNumber({ cacheTime: 0 })) + count;
  await waitUntil(async () => (await rig.client.getBlockNumber({ cacheTime: 0 })) >= end, {
    timeoutMs: PATIENCE_MS,
    what: 'no blocks',
  });
}

function describeAll(instances: readonly RunningInstance[]): string {
  const states = instances.map(({ relayer, log }) => ({
    payments: relayer.journal.list().map(({ state, reason }) => ({ state, reason })),
    log: log.lines.filter(({ level }) => level !== 'debug').slice(-8),
  }));
  return JSON.stringify(states, (_, value) => (typeof value === 'bigint' ? `${value}` : value)).slice(0, 8000);
}

/** Shuffles. */
function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

// Shows PAY-17.
test('whatever an operator does after whatever kill, on whatever node, the chain has one payout of each payment', async () => {
  const seed = Number(process.env.FC_SEED ?? randomInt(2 ** 31));
  const random = createSeededRandom(seed);
  const only = process.env.FC_ONLY ?? '';
  const named = COMBINATIONS.filter(({ name }) => name.includes(only));
  const wanted = shuffle(named, random).slice(0, Number(process.env.FC_RUNS ?? sized({ small: 6, long: 1e6 })));
  console.log(`seed ${seed}: ${wanted.length} of ${COMBINATIONS.length} combinations`);
  if (isLong && process.env.FC_RUNS === undefined) expect(wanted.length).toBeGreaterThanOrEqual(500);
  const runs = wanted.map((combination) => ({
    combination,
    random: createSeededRandom(Math.floor(random() * 2 ** 31)),
  }));
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
        try {
          await play(run.combination, run.random);
        } catch (error) {
          throw new Error(`seed ${seed}: ${run.combination.name}`, { cause: error });
        }
      }
    }),
  );
});
