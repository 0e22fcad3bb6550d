import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { creditTokenAbi } from '@prism-gateway/contracts';
import { bareExchangeAbi, bareExchangeBytecode } from '@prism-gateway/devnet/test-tokens';
import { createSeededRandom } from '@prism-gateway/testing';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import { NODE_FAULTS, type NodeFault } from './rig/nodeFaults.ts';
import { PROCEDURES, type Procedure } from './rig/procedures.ts';
import { KILL_POINTS, type KillPoint, startDoomed } from './rig/startDoomed.ts';
import { type Machines, startMachines, waitForFinal } from './rig/startMachines.ts';

const RATE = 1000n;
const AMOUNT = 3_000_000n;
const OWED = computeCreditsOwed(AMOUNT, RATE);
/** Blocks until somebody mends the node. */
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

/** Runs the first instance until it dies. @returns what is left of it */
async function dieAt(point: KillPoint, params: { readonly machines: Machines; readonly key: RigKey }) {
  const { machines, key } = params;
  const [folder, disk, backup] = [newFolder(), newFolder(), newFolder()];
  const doomed = await startDoomed(machines.settingsOf(key, folder), { point, disk });
  await waitForFinal(doomed.instance);
  await runCommand(['backup', backup], { environment: { DATA_DIR: folder }, print: () => undefined });
  const { walletAddress } = rig.addPayment(AMOUNT, machines.frontend);
  await doomed.died;
  return { disk, backup, walletAddress, buried: doomed.bury() };
}

/** A scene of its own for each combination: keys, frontend, payment, machines. */
async function play({ act, point, fault }: Combination, random: () => number): Promise<void> {
  const fromBlock = await rig.client.getBlockNumber({ cacheTime: 0 });
  const [key, other] = [await rig.fundKey(), await rig.fundKey()];
  const payouts = () => rig.deployPayouts([key.address, other.address]);
  const machines = await startMachines(rig, {
    SEARCH_FROM_BLOCK: `${fromBlock}`,
    MAX_RETRIES: '1',
    // A loaded machine takes its time.
    RPC_TIMEOUT_MS: '3000',
    ...(fault.needsContract || act.needsContract === true ? { PAYOUTS_ADDRESS: await payouts() } : {}),
  });
  const { buried, walletAddress, disk, backup } = await dieAt(point, { machines, key });
  const { start, runIdle } = machines;
  try {
    machines.setNode(fault.plan(random));
    await act({ key, disk, backup, otherExchange, payouts, otherKey: async () => other, newFolder, start, runIdle });
    await waitForBlocks(FAULTY_BLOCKS);
    machines.setNode(() => undefined);
    await machines.attendUntilPaid(walletAddress);
    const transfer = { address: rig.deployment.creditToken, abi: creditTokenAbi, eventName: 'Transfer' } as const;
    const paid = await rig.client.getContractEvents({ ...transfer, args: { to: walletAddress }, fromBlock });
    expect(paid.map(({ args }) => args.value)).toEqual([OWED]);
  } catch (error) {
    throw new Error(machines.describe(), { cause: error });
  } finally {
    await Promise.all([buried, machines.close()]);
  }
}

async function waitForBlocks(count: bigint): Promise<void> {
  const end = (await rig.client.getBlockNumber({ cacheTime: 0 })) + count;
  await waitUntil(async () => (await rig.client.getBlockNumber({ cacheTime: 0 })) >= end, {
    timeoutMs: TIMEOUT_MS,
    what: 'no blocks',
  });
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
  const wanted = shuffle(named, random).slice(0, Number(process.env.FC_RUNS ?? sized({ small: 3, long: 1e6 })));
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
