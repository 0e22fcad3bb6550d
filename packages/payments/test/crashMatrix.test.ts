import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSeededRandom } from '@prism-gateway/testing';
import { drawSome, isLong, sized } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { payoutIdOf } from '../src/chain/calls.ts';
import { crashInstance } from './rig/crashInstance.ts';
import { type RunningInstance, runInstance } from './rig/runInstance.ts';

const RATE = 1000n;
const AMOUNT = 12_345_678n;
const OWED = computeCreditsOwed(AMOUNT, RATE);
/** Points of each in the small size, others each time. */
const SMALL_COUNT = 1;
/** Points under way at a time: each starts processes of its own. */
const LANES = 3;

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 700 });
});

afterAll(async () => {
  await rig.close();
});

/** Where the first instance's credits come from, and how it pays: alone, or beside another one. */
interface Way {
  readonly credits: 'bought' | 'in hand';
  readonly by: 'a plain transfer' | 'the contract';
}

const WAYS: readonly Way[] = (['bought', 'in hand'] as const).flatMap((credits) =>
  (['a plain transfer', 'the contract'] as const).map((by) => ({ credits, by })),
);

/** A payment, a frontend that knows only of it, and an instance; through the contract also another one, and both know of each other. */
async function setUp({ credits, by }: Way) {
  const [one, other] = [await rig.fundKey(), await rig.fundKey()];
  if (credits === 'in hand') await rig.giveCredits(one.address, OWED);
  const frontend = await rig.startFrontend();
  const payment = rig.addPayment(AMOUNT, frontend);
  const isAlone = by === 'a plain transfer';
  const contract = isAlone ? {} : { PAYOUTS_ADDRESS: await rig.deployPayouts([one.address, other.address]) };
  return {
    payment,
    frontend,
    one: { ...rig.settingsFor(one, isAlone ? [] : [other.address], frontend), ...contract },
    other: { ...rig.settingsFor(other, [one.address], frontend), ...contract },
    txHash: () => frontend.store.list()[0]?.txHash,
  };
}

type Scene = Awaited<ReturnType<typeof setUp>>;

/** Waits until nothing that an instance has begun is open any more. */
async function settle(instance: RunningInstance): Promise<void> {
  const isFinal = () =>
    instance.relayer.journal
      .list()
      .every(({ paymentIntentId }) =>
        instance.relayer.journal.attemptsOf(paymentIntentId).every(({ state }) => state !== 'open'),
      );
  await waitUntil(isFinal, { timeoutMs: TIMEOUT_MS, what: 'an attempt stays open' });
}

async function expectPaidOnce(scene: Scene): Promise<void> {
  const { paymentIntentId, walletAddress } = scene.payment;
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(1);
  // The frontend knows the very transaction.
  const receipt = await rig.client.getTransactionReceipt({ hash: scene.txHash() as `0x${string}` });
  expect(receipt.logs.some(({ topics }) => topics[2]?.endsWith(walletAddress.slice(2).toLowerCase()))).toBe(true);
}

async function runUntilCompleted(
  settings: Readonly<Record<string, string>>,
  scene: Scene,
  what: string,
): Promise<void> {
  const instance = await runInstance(settings);
  try {
    await waitUntil(() => scene.txHash() !== undefined, { timeoutMs: TIMEOUT_MS, what });
    await settle(instance);
  } catch (error) {
    const moves = instance.relayer.journal.movesOf(scene.payment.paymentIntentId);
    throw new Error(`${what}: ${JSON.stringify({ moves, log: instance.log.lines.slice(-15) })}`, { cause: error });
  } finally {
    await instance.stop();
  }
}

/** Lets the first instance die at a point, and has the same or the other one finish; the first comes back in either case. */
async function crashAt(
  crash: { readonly at: number; readonly name?: string; readonly way: Way },
  successor: 'same' | 'other',
): Promise<void> {
  const { at, way } = crash;
  const scene = await setUp(way);
  const crashing = crashInstance(scene.one, crash);
  const done = waitUntil(() => scene.txHash() !== undefined, {
    timeoutMs: TIMEOUT_MS,
    what: `point ${at} is never reached`,
  });
  // A run may take fewer steps than the one that was counted: it has completed then.
  await Promise.race([crashing.ended, done]);
  await crashing.kill();
  if (successor === 'other') await runUntilCompleted(scene.other, scene, `point ${at}, another instance`);
  await runUntilCompleted(
    scene.one,
    scene,
    `point ${at}, ${successor === 'same' ? 'the same instance' : 'the first again'}`,
  );
  await expectPaidOnce(scene);
}

async function countPoints(way: Way): Promise<readonly string[]> {
  const scene = await setUp(way);
  const logFile = join(rig.dir, `${way.credits} ${way.by}.log`);
  const instance = crashInstance(scene.one, { at: 0, logFile });
  try {
    await waitUntil(() => scene.txHash() !== undefined, {
      timeoutMs: TIMEOUT_MS,
      what: 'the payment is not completed',
    });
  } finally {
    await instance.kill();
  }
  await expectPaidOnce(scene);
  return readFileSync(logFile, 'utf8').trimEnd().split('\n');
}

test.concurrent.each(drawSome(WAYS, { of: 'ways', small: 1 }))(
  'killed before or after any journal write, RPC call or HTTP call, credits $credits, paid by $by: paid exactly once',
  async (way) => {
    const seed = Number(process.env.FC_SEED ?? randomInt(2 ** 31));
    const random = createSeededRandom(seed);
    const names = await countPoints(way);
    const count = names.length;
    const places = Array.from({ length: sized({ small: SMALL_COUNT, long: count }) }, (_, index) =>
      // Others each time, one in each part of the way.
      isLong ? index + 1 : 1 + Math.floor(((index + random()) * count) / SMALL_COUNT),
    );
    const runs = places.flatMap((at) => {
      const same = { at, successor: 'same' } as const;
      if (way.by === 'a plain transfer') return [same];
      const other = { at, successor: 'other' } as const;
      if (isLong) return [same, other];
      return [random() < 0.5 ? other : same];
    });
    // Of all ways together: 400 points and more.
    if (isLong) expect(count).toBeGreaterThanOrEqual(100);
    console.log(
      `seed ${seed}: ${count} points, credits ${way.credits}, by ${way.by}, runs ${runs.map(({ at }) => at).join(' ')}`.slice(
        0,
        200,
      ),
    );
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
          try {
            await crashAt({ at: run.at, way }, run.successor);
          } catch (error) {
            throw new Error(`killed ${names[run.at - 1]} (point ${run.at}), then ${run.successor}`, { cause: error });
          }
        }
      }),
    );
  },
);

// Shows PAY-14.
test('a payout that was journalled and never sent is not sent any more once another instance has paid', async () => {
  // Two approvals, buy, payout: the fourth broadcast.
  const way = { credits: 'bought', by: 'the contract' } as const;
  await crashAt({ at: 4, name: 'before eth_sendRawTransaction', way }, 'other');
});
