import { startFaultProxy } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { payoutIdOf } from '../src/chain/calls.ts';
import { OPEN_STATES } from '../src/journal/paymentState.ts';
import { runInstance } from './rig/runInstance.ts';

const INSTANCES = 3;
const TIMEOUT_MS = sized({ small: 180_000, long: 240_000 });
const REORG_DEPTH = 16;

type Trouble =
  | { readonly kind: 'rate'; readonly rate: bigint }
  | { readonly kind: 'gas'; readonly gwei: bigint }
  | { readonly kind: 'reorg'; readonly depth: number }
  | { readonly kind: 'drop' }
  | { readonly kind: 'lease'; readonly ms: number }
  | { readonly kind: 'restart'; readonly instance: number };

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  // Within the tolerance of one per cent, and beyond.
  fc.record({ kind: fc.constant('rate' as const), rate: fc.constantFrom(1000n, 995n, 1005n, 900n, 1100n) }),
  fc.record({ kind: fc.constant('gas' as const), gwei: fc.constantFrom(1n, 50n, 300n) }),
  fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('drop' as const) }),
  fc.record({ kind: fc.constant('lease' as const), ms: fc.constantFrom(5, 100, 1000) }),
  fc.record({ kind: fc.constant('restart' as const), instance: fc.nat(INSTANCES - 1) }),
);

async function cause(rig: PaymentsRig, what: Exclude<Trouble, { kind: 'restart' }>): Promise<void> {
  switch (what.kind) {
    case 'rate':
      return await rig.setRate(what.rate);
    case 'gas':
      return await rig.client.setNextBlockBaseFeePerGas({ baseFeePerGas: what.gwei * 10n ** 9n });
    case 'reorg':
      // Anvil's own method; what was in the blocks is gone, and not even waits to be mined.
      return void (await rig.betweenBlocks(() =>
        rig.client.request({ method: 'anvil_reorg', params: [what.depth, []] } as never),
      ));
    case 'drop':
      return void (await rig.client.request({ method: 'anvil_dropAllTransactions', params: [] } as never));
    case 'lease':
      rig.lease.ms = what.ms;
  }
}

/** Instances behind lines that fail. */
async function startInstances(rig: PaymentsRig, seed: number) {
  const keys = await Promise.all(Array.from({ length: INSTANCES }, () => rig.fundKey()));
  const addresses = keys.map(({ address }) => address);
  const proxies = await Promise.all(
    [rig.rpcUrl, rig.rpcUrl, rig.rpcUrl, rig.frontend.url].map((upstream, index) =>
      startFaultProxy({ upstream, seed: seed + index, maxDelayMs: 30 }),
    ),
  );
  const PAYOUTS_ADDRESS = await rig.deployPayouts(addresses);
  const settings = keys.map((key, index) => ({
    ...rig.settingsFor(key, addresses),
    PAYOUTS_ADDRESS,
    // One a key, and one for the frontend.
    RPC_URL: proxies[index]!.url,
    FRONTEND_URL: proxies[INSTANCES]!.url,
    REORG_DEPTH: `${REORG_DEPTH}`,
    MAX_RETRIES: '3',
    DAILY_LIMIT: '1000000000000',
  }));
  const instances = await Promise.all(settings.map((environment) => runInstance(environment)));
  const setFaults = (share: number) => {
    for (const proxy of proxies) {
      proxy.setShares({
        delay: share,
        cutBefore: share,
        cutAfter: share,
        stallAfter: share / 4,
        unavailable: share,
        serverErrorAfter: share,
      });
    }
  };
  return {
    addresses,
    instances,
    setFaults,
    async restart(index: number) {
      await instances[index]!.stop();
      instances[index] = await runInstance(settings[index]!);
    },
    async close() {
      for (const instance of instances) await instance.stop();
      for (const proxy of proxies) await proxy.close();
    },
  };
}

type Fleet = Awaited<ReturnType<typeof startInstances>>;

/** The amount owed according to the instance that paid; another instance that had claimed it too may have done so at another rate. */
function owedBy(fleet: Fleet, paymentIntentId: string, payer: string): bigint | undefined {
  const index = fleet.addresses.findIndex((address) => address.toLowerCase() === payer.toLowerCase());
  return fleet.instances[index]?.relayer.journal.get(paymentIntentId)?.creditsOwed;
}

async function expectBooksToBalance(rig: PaymentsRig, fleet: Fleet): Promise<void> {
  for (const { paymentIntentId, walletAddress } of rig.frontend.store.list()) {
    const payouts = await rig.findPayouts(payoutIdOf(paymentIntentId));
    expect(payouts, `${paymentIntentId} has one payout`).toHaveLength(1);
    const owed = owedBy(fleet, paymentIntentId, payouts[0]?.from ?? '');
    expect(await rig.creditsOf(walletAddress as `0x${string}`), paymentIntentId).toBe(owed);
  }
}

async function run(count: number, troubles: readonly Trouble[], seed: number): Promise<void> {
  await using rig = await startPaymentsRig({ blockTimeMs: 100, heartbeatMs: 600_000, leaseMs: 1000 });
  const payments = Array.from({ length: count }, (_, index) => rig.addPayment(1_000_000n + BigInt(index) * 777_777n));
  const fleet = await startInstances(rig, seed);
  try {
    fleet.setFaults(0.02);
    for (const what of troubles) {
      const done = rig.frontend.store.list().filter(({ txHash }) => txHash !== undefined).length;
      if (what.kind === 'restart') await fleet.restart(what.instance);
      else await cause(rig, what);
      // The next trouble comes when work has gone on, or stands still.
      const goesOn = () => rig.frontend.store.list().filter(({ txHash }) => txHash !== undefined).length > done;
      await waitUntil(goesOn, { timeoutMs: 400, what: 'nothing' }).catch(() => undefined);
    }
    fleet.setFaults(0);
    rig.lease.ms = 1000;
    // At another rate than is expected everything would wait for ever, as it has to.
    await rig.setRate(1000n);
    await rig.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n });
    const isDone = () => rig.frontend.store.list().every(({ txHash }) => txHash !== undefined);
    await waitUntil(isDone, { timeoutMs: TIMEOUT_MS, what: 'payments are not completed' });
    const start = await rig.client.getBlockNumber();
    // Deep enough for whatever a reorganisation has undone to be noticed; then it is repaired.
    await waitUntil(async () => (await rig.client.getBlockNumber()) > start + BigInt(REORG_DEPTH + 10), {
      timeoutMs: TIMEOUT_MS,
      what: 'no blocks',
    });
    const isAtRest = () => fleet.instances.every(({ relayer }) => relayer.journal.list(OPEN_STATES).length === 0);
    await waitUntil(isAtRest, { timeoutMs: TIMEOUT_MS, what: 'payments are under way' });
    await expectBooksToBalance(rig, fleet);
    expect(payments).toHaveLength(count);
  } catch (error) {
    const states = fleet.instances.map(({ relayer, log }) => ({
      payments: relayer.journal
        .list()
        .filter(({ state }) => !['completed', 'seen'].includes(state))
        .map(({ paymentIntentId, state, reason }) => ({ paymentIntentId, state, reason })),
      log: log.lines.filter(({ level }) => level !== 'debug').slice(-8),
    }));
    throw new Error(
      JSON.stringify(states, (_, value) => (typeof value === 'bigint' ? `${value}` : value)).slice(0, 20_000),
      { cause: error },
    );
  } finally {
    await fleet.close();
  }
}

test('whatever befalls three instances, no payment is lost, none is paid twice, and the books balance', async () => {
  // A seed of its own in full size; the small one is the same run each time.
  const seed = Number(process.env.FC_SEED ?? sized({ small: 2, long: Date.now() % 2 ** 31 }));
  console.log(`seed ${seed}`);
  const troubles = fc.array(trouble, {
    minLength: sized({ small: 6, long: 40 }),
    maxLength: sized({ small: 6, long: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(troubles, fc.nat(), (list, faultSeed) => run(sized({ small: 8, long: 200 }), list, faultSeed)),
    { seed, numRuns: Number(process.env.FC_RUNS ?? sized({ small: 1, long: 5 })), endOnFailure: true },
  );
});
