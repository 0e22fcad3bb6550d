import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startRpcFaultProxy } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { payoutIdOf } from '../src/chain/calls.ts';
import type { ReferenceFrontend } from '../src/referenceFrontend/startReferenceFrontend.ts';
import { runInstance } from './rig/runInstance.ts';

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
    timeoutMs: TIMEOUT_MS,
    what: 'payments are not completed',
  });

async function expectPaidOnce({
  paymentIntentId,
  walletAddress,
}: {
  paymentIntentId: string;
  walletAddress: `0x${string}`;
}) {
  expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(1);
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
}

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
      { timeoutMs: TIMEOUT_MS, what: 'not completed' },
    );
  const countOf = (blockTag: 'latest' | 'pending') => client.getTransactionCount({ address: key.address, blockTag });
  const before = await runInstance(settings);
  slow.addPayment(AMOUNT);
  await waitForAllMined();
  await slow.giveCredits(key.address, OWED);
  await client.setAutomine(false);
  const { paymentIntentId } = slow.addPayment(AMOUNT);
  await waitUntil(async () => (await countOf('pending')) > (await countOf('latest')), {
    timeoutMs: TIMEOUT_MS,
    what: 'no payout waits',
  });
  await before.stop();
  rmSync(`${settings.DATA_DIR}`, { recursive: true });
  const after = await runInstance(settings);
  await waitUntil(() => after.log.lines.some(({ message }) => message === 'nothing is begun yet'), {
    timeoutMs: TIMEOUT_MS,
    what: 'it does not wait',
  });
  expect(after.relayer.journal.list().map(({ state }) => state)).not.toContain('claimed');
  await waitForAllMined();
  expect(await slow.countPayouts(payoutIdOf(paymentIntentId))).toBe(1);
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
      timeoutMs: TIMEOUT_MS,
      what: 'not seen',
    },
  );
  expect(after.relayer.journal.list().map(({ state }) => state)).toEqual(['seen']);
  isStale = false;
  await waitForAll(two);
  await expectPaidOnce(payment);
  await after.stop();
});

// Shows PAY-15.
test('logs that are behind for longer than blocks are searched again: nothing has vanished, and the payout is found again', async () => {
  const frontend = await rig.startFrontend();
  let isBehind = false;
  await using proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (method) => (isBehind && method === 'eth_getLogs' ? { kind: 'answer', result: [] } : undefined),
  });
  const settings = { FRONTEND_URL: frontend.url, RPC_URL: proxy.url, REORG_DEPTH: '20' };
  const instance = await runInstance(machineOf(await rig.fundKey(), settings));
  const { paymentIntentId } = rig.addPayment(AMOUNT, frontend);
  await waitForAll(frontend);
  const { journal } = instance.relayer;
  const txHash = frontend.store.list()[0]?.txHash as `0x${string}`;
  await waitUntil(() => journal.transfers.blockOf(txHash) !== undefined, { timeoutMs: TIMEOUT_MS, what: 'not placed' });
  isBehind = true;
  await rig.client.mine({ blocks: 60 });
  await waitUntil(() => journal.transfers.blockOf(txHash) === undefined, {
    timeoutMs: TIMEOUT_MS,
    what: 'still placed',
  });
  isBehind = false;
  await waitUntil(() => journal.transfers.blockOf(txHash) !== undefined, {
    timeoutMs: TIMEOUT_MS,
    what: 'not found again',
  });
  expect(journal.get(paymentIntentId)?.state).toBe('completed');
  expect(instance.log.lines.filter(({ message }) => message.includes('vanished'))).toEqual([]);
  await instance.stop();
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
