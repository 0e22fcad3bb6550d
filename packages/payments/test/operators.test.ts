import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type RpcFault, startRpcFaultProxy } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { KEY_FACTS, unsettleKey } from '../src/chain/createKeyWatch.ts';
import { markPayout } from '../src/chain/marks.ts';
import { computeCreditsOwed } from '../src/payments/computeCredits.ts';
import type { ReferenceFrontend } from '../src/referenceFrontend/startReferenceFrontend.ts';
import { type RunningInstance, runInstance } from './rig/runInstance.ts';
import { codesOf } from './rig/startScene.ts';

const AMOUNT = 3_000_000n;
const OWED = computeCreditsOwed(AMOUNT, 1000n);

let rig: PaymentsRig;
let machines = 0;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 1000 });
});

afterAll(() => rig.close());

/** A machine of its own: neither disk nor locks are shared with others. */
function machineOf(key: RigKey, overrides: Readonly<Record<string, string>> = {}): Record<string, string> {
  const dir = join(rig.dir, `machine-${++machines}`);
  return { ...rig.settingsFor(key), DATA_DIR: dir, LOCK_DIR: join(dir, 'locks'), ...overrides };
}

function list(frontend: ReferenceFrontend, payment: { paymentIntentId: string; walletAddress: string }): void {
  const { paymentIntentId, walletAddress } = payment;
  frontend.store.add({ paymentIntentId, walletAddress, stablecoinAmount: `${AMOUNT}` });
}

const waitForAll = (frontend: ReferenceFrontend) =>
  waitUntil(() => frontend.store.list().every(({ txHash }) => txHash !== undefined), {
    timeoutMs: PATIENCE_MS,
    what: 'payments are not completed',
  });

const waitForAlert = (instance: RunningInstance, code: string) =>
  waitUntil(() => codesOf(instance).includes(code), { timeoutMs: PATIENCE_MS, what: `no alert ${code}` });

async function expectPaidOnce({
  paymentIntentId,
  walletAddress,
}: {
  paymentIntentId: string;
  walletAddress: `0x${string}`;
}) {
  expect(await rig.countPayouts(markPayout(paymentIntentId))).toBe(1);
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
}

test('two machines with one key, as in a rolling deployment: one of them stops and tells, each payment is paid once', async () => {
  const key = await rig.fundKey();
  const [one, two] = [await rig.startFrontend(), await rig.startFrontend()];
  const old = await runInstance(machineOf(key, { FRONTEND_URL: one.url }));
  const first = rig.addPayment(AMOUNT, one);
  await waitForAll(one);
  // The old one is at rest while the new one looks: nothing shows that it is there.
  const young = await runInstance(machineOf(key, { FRONTEND_URL: two.url }));
  try {
    const second = rig.addPayment(AMOUNT, two);
    await waitForAll(two);
    // Claims do not keep them apart: both frontends list the same payments.
    const third = rig.addPayment(AMOUNT, one);
    list(two, second);
    list(one, second);
    list(two, third);
    await waitForAlert(old, 'KEY_USED_ELSEWHERE');
    await waitForAll(two);
    expect(old.relayer.journal.get(third.paymentIntentId)?.state).not.toBe('completed');
    for (const payment of [first, second, third]) await expectPaidOnce(payment);
  } finally {
    await Promise.all([old.stop(), young.stop()]);
  }
});

test('a disk lost while a payout waits to be mined: it is waited for, and found', async () => {
  await using slow = await startPaymentsRig({ heartbeatMs: 3_600_000, leaseMs: 300 });
  const key = await slow.fundKey();
  const { client, frontend } = slow;
  const settings: Record<string, string> = {
    ...slow.settingsFor(key),
    BUMP_AFTER_MS: '3600000',
  };
  const waitForAllMined = () =>
    waitUntil(
      async () => {
        await client.mine({ blocks: 1 });
        return frontend.store.list().every(({ txHash }) => txHash !== undefined);
      },
      { timeoutMs: PATIENCE_MS, what: 'not completed' },
    );
  const countOf = (blockTag: 'latest' | 'pending') => client.getTransactionCount({ address: key.address, blockTag });
  const before = await runInstance(settings);
  slow.addPayment(AMOUNT);
  await waitForAllMined();
  await slow.giveCredits(key.address, OWED);
  await client.setAutomine(false);
  const { paymentIntentId } = slow.addPayment(AMOUNT);
  await waitUntil(async () => (await countOf('pending')) > (await countOf('latest')), {
    timeoutMs: PATIENCE_MS,
    what: 'no payout waits',
  });
  await before.stop();
  rmSync(`${settings.DATA_DIR}`, { recursive: true });
  const after = await runInstance(settings);
  await waitUntil(() => after.log.lines.some(({ message }) => message === 'nothing is begun yet'), {
    timeoutMs: PATIENCE_MS,
    what: 'it does not wait',
  });
  expect(after.relayer.journal.list().map(({ state }) => state)).not.toContain('claimed');
  await waitForAllMined();
  expect(await slow.countPayouts(markPayout(paymentIntentId))).toBe(1);
  await after.stop();
});

test('a disk lost, and a stale answer about logs: the block says that there is more, and nothing is paid', async () => {
  const key = await rig.fundKey();
  const [one, two] = [await rig.startFrontend(), await rig.startFrontend()];
  const before = await runInstance(machineOf(key, { FRONTEND_URL: one.url }));
  const payment = rig.addPayment(AMOUNT, one);
  await waitForAll(one);
  await before.stop();
  let isStale = true;
  await using proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (method) => (isStale && method === 'eth_getLogs' ? { kind: 'answer', result: [] } : undefined),
  });
  list(two, payment);
  // Only the newest blocks are compared with their headers: the payout is among them.
  const after = await runInstance(
    machineOf(key, { FRONTEND_URL: two.url, RPC_URL: proxy.url, REORG_DEPTH: '900', RPC_TIMEOUT_MS: '5000' }),
  );
  await waitUntil(
    () => after.log.lines.some(({ fields }) => `${fields.reason}`.includes('its logs lack those of block')),
    {
      timeoutMs: PATIENCE_MS,
      what: 'not seen',
    },
  );
  expect(after.relayer.journal.list().map(({ state }) => state)).toEqual(['seen']);
  isStale = false;
  await waitForAll(two);
  await expectPaidOnce(payment);
  await after.stop();
});

test('a peer that is named later: what it had paid before is found, below where this one had searched', async () => {
  const [peer, key] = [await rig.fundKey(), await rig.fundKey()];
  const [one, two] = [await rig.startFrontend(), await rig.startFrontend()];
  const other = await runInstance(machineOf(peer, { FRONTEND_URL: one.url }));
  const payment = rig.addPayment(AMOUNT, one);
  await waitForAll(one);
  await other.stop();
  await rig.client.mine({ blocks: 40 });
  const settings = machineOf(key, { FRONTEND_URL: two.url });
  const alone = await runInstance(settings);
  rig.addPayment(AMOUNT, two);
  await waitForAll(two);
  await alone.stop();
  list(two, payment);
  const PAYOUTS_ADDRESS = await rig.deployPayouts([peer.address, key.address]);
  const named = await runInstance({ ...settings, RELAYER_ADDRESSES: peer.address, PAYOUTS_ADDRESS });
  await waitForAll(two);
  await expectPaidOnce(payment);
  await named.stop();
});

// Shows PAY-12.
test('a payment that a lost instance has made through the contract is completed by another one, though nobody has named it', async () => {
  const [lost, key] = [await rig.fundKey(), await rig.fundKey()];
  const PAYOUTS_ADDRESS = await rig.deployPayouts([lost.address, key.address]);
  const [one, two] = [await rig.startFrontend(), await rig.startFrontend()];
  const before = await runInstance(machineOf(lost, { FRONTEND_URL: one.url, PAYOUTS_ADDRESS }));
  const payment = rig.addPayment(AMOUNT, one);
  await waitForAll(one);
  await before.stop();
  // What it has told is lost with it: to the frontend the payment is pending.
  list(two, payment);
  await rig.client.mine({ blocks: 200 });
  // Its node takes few blocks a query.
  await using proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan(method, _, [filter]) {
      const { fromBlock, toBlock } = (filter ?? {}) as { readonly fromBlock?: string; readonly toBlock?: string };
      const isWide = method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) >= 100;
      return isWide ? { kind: 'error', code: -32_005, message: 'query exceeds the limit of blocks' } : undefined;
    },
  });
  const environment = { FRONTEND_URL: two.url, RPC_URL: proxy.url, PAYOUTS_ADDRESS };
  const other = await runInstance(machineOf(key, environment));
  await waitForAll(two);
  const { paymentIntentId } = payment;
  expect(two.store.list()[0]?.txHash).toBe(one.store.list()[0]?.txHash);
  expect(other.relayer.journal.get(paymentIntentId)?.paidBy).toBe(lost.address.toLowerCase());
  expect(other.relayer.journal.attemptsOf(paymentIntentId)).toEqual([]);
  await expectPaidOnce(payment);
  await other.stop();
});

/** Lies about logs, heads, counts and what contracts hold, half of the time. */
function lie(random: () => number) {
  return (method: string): RpcFault | undefined => {
    if (random() < 0.5) return undefined;
    if (method === 'eth_getLogs') return { kind: 'answer', result: [] };
    if (method === 'eth_getTransactionByHash') return { kind: 'answer', result: null };
    if (method === 'eth_getTransactionCount') return { kind: 'lag', blocks: 1 + Math.floor(random() * 20) };
    if (method === 'eth_getBlockByNumber') {
      const noLogs = `0x${'00'.repeat(256)}`;
      return { kind: 'change', change: (block) => ({ ...(block as object), logsBloom: noLogs }) };
    }
    return undefined;
  };
}

test('through the contract Payouts: one key twice, two keys, lost disks, and nodes that lie, pay once', async () => {
  const [shared, own] = [await rig.fundKey(), await rig.fundKey()];
  const payouts = await rig.deployPayouts([shared.address, own.address]);
  const frontends = [await rig.startFrontend(), await rig.startFrontend(), await rig.startFrontend()];
  const payments = Array.from({ length: 2 }, () => {
    const payment = rig.addPayment(AMOUNT, frontends[0]);
    for (const frontend of frontends.slice(1)) list(frontend, payment);
    return payment;
  });
  const proxies = await Promise.all(
    frontends.map(() => startRpcFaultProxy({ target: rig.rpcUrl, plan: lie(Math.random) })),
  );
  const settings = [shared, shared, own].map((key, index) =>
    machineOf(key, {
      // One of each for each.
      FRONTEND_URL: frontends[index]!.url,
      RPC_URL: proxies[index]!.url,
      PAYOUTS_ADDRESS: payouts,
      // Pauses that grow with each try would outlast the lies.
      MAX_RETRIES: '1000',
      RELAYER_ADDRESSES: `${shared.address},${own.address}`,
    }),
  );
  const instances = await Promise.all(settings.map((environment) => runInstance(environment)));
  const waitForBlocks = async (count: bigint) => {
    const end = (await rig.client.getBlockNumber({ cacheTime: 0 })) + count;
    await waitUntil(async () => (await rig.client.getBlockNumber({ cacheTime: 0 })) > end, {
      timeoutMs: PATIENCE_MS,
      what: 'no blocks',
    });
  };
  try {
    await waitForBlocks(20n);
    for (const [index, place] of settings.entries()) {
      await instances[index]!.stop();
      rmSync(place.DATA_DIR ?? '', { recursive: true });
      instances[index] = await runInstance(place);
    }
    await waitForBlocks(20n);
    for (const { paymentIntentId } of payments)
      expect(await rig.countPayouts(markPayout(paymentIntentId))).toBeLessThanOrEqual(1);
    // A person stops one of the two with one key, mends the nodes, and has the others go on.
    await instances[0]!.stop();
    for (const proxy of proxies) proxy.setPlan(() => undefined);
    const isDone = () =>
      frontends.slice(1).every(({ store }) => store.list().every(({ txHash }) => txHash !== undefined));
    await waitUntil(
      () => {
        for (const instance of instances.slice(1))
          if (instance.relayer.journal.fact(KEY_FACTS.evidence) !== undefined) unsettleKey(instance.relayer.journal);
        return isDone();
      },
      { timeoutMs: PATIENCE_MS, what: 'payments are not completed' },
    );
    for (const payment of payments) await expectPaidOnce(payment);
  } finally {
    for (const instance of instances.slice(1)) await instance.stop();
    for (const proxy of proxies) await proxy.stop();
  }
});
