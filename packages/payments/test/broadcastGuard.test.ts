import { join } from 'node:path';
import { createOutbox } from '@prism-gateway/node/alerts';
import { createLogRecorder, startRpcFaultProxy } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import {
  type Address,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  keccak256,
  numberToHex,
  parseGwei,
  parseTransaction,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { encodePayout } from '../src/chain/calls.ts';
import { createBroadcastGuard } from '../src/chain/createBroadcastGuard.ts';
import { createKeyWatch } from '../src/chain/createKeyWatch.ts';
import { createTransferSearch } from '../src/chain/createTransferSearch.ts';
import { openPaymentJournal } from '../src/journal/openPaymentJournal.ts';

const FRESH_MS = 500;

let rig: PaymentsRig;
let account: PrivateKeyAccount;
let paymentIntentId: string;
let walletAddress: Address;
let nonce: number;
let files = 0;

beforeAll(async () => {
  rig = await startPaymentsRig();
});

afterAll(() => rig.close());

beforeEach(async () => {
  account = privateKeyToAccount((await rig.fundKey()).privateKey);
  ({ paymentIntentId, walletAddress } = rig.addPayment(1_000_000n));
  await rig.giveCredits(account.address, 1000n);
  nonce = await rig.client.getTransactionCount({ address: account.address });
});

function openGuard({ others = [], rpcUrl = rig.rpcUrl }: { others?: readonly Address[]; rpcUrl?: string } = {}) {
  const { creditToken } = rig.deployment;
  const journal = openPaymentJournal({ file: join(rig.dir, `guard-${files++}.db`), now: Date.now });
  const client = createPublicClient({ transport: http(rpcUrl), pollingInterval: 20 });
  // A clock of its own: beside a load a look at the chain may take longer than it counts as fresh.
  let nowMs = 0;
  const monotonicNow = () => nowMs;
  const { transfers, broadcasts } = journal;
  const search = createTransferSearch({
    client,
    transfers,
    broadcasts,
    chainId: 31_337,
    self: account.address,
    creditToken,
    relayers: [account.address],
    listParties: () => [],
    fromBlock: 0,
    reorgDepth: 10,
    monotonicNow,
    signal: new AbortController().signal,
  });
  const alerter = createOutbox({
    outbox: journal.outbox,
    channels: [],
    log: createLogRecorder(),
    redact: (text) => text,
    signature: '',
    now: Date.now,
  });
  const watch = createKeyWatch({ journal, client, alerter, now: Date.now, self: account.address });
  const config = { self: account.address, others, creditToken };
  const claim = { isHeld: true };
  const renewClaim = async () => claim.isHeld;
  const options = { client, config, journal, renewClaim, freshMs: FRESH_MS };
  const guard = createBroadcastGuard({ ...options, search, watch, monotonicNow });
  function ask(raw: Hex) {
    // What the guard has seen of the chain serves for a while.
    nowMs += FRESH_MS / 2 + 20;
    const { nonce: own = 0 } = parseTransaction(raw);
    return guard.mayBroadcast({ raw, nonce: own });
  }
  /** @returns whether it was let out */
  async function send(raw: Hex) {
    const mayBroadcast = await ask(raw);
    if (mayBroadcast) await client.sendRawTransaction({ serializedTransaction: raw });
    return mayBroadcast;
  }
  return { broadcasts, claim, ask, send };
}

const payout = (payouts?: Address) =>
  encodePayout({ creditToken: rig.deployment.creditToken, payouts, paymentIntentId, walletAddress, credits: 5n });

/** Signs a payout on an account nonce, as the sender does. */
const signOn = (own: number, payouts?: Address) =>
  account.signTransaction({
    ...payout(payouts),
    value: 0n,
    type: 'eip1559',
    chainId: 31_337,
    nonce: own,
    gas: 200_000n,
    maxFeePerGas: parseGwei('20'),
    maxPriorityFeePerGas: parseGwei('1'),
  });

/** Pays the payment from an account that nobody has named. */
async function payByAnother(): Promise<void> {
  const other = privateKeyToAccount((await rig.fundKey()).privateKey);
  await rig.giveCredits(other.address, 1000n);
  const wallet = createWalletClient({ account: other, transport: http(rig.rpcUrl) });
  const hash = await wallet.sendTransaction({ ...payout(), chain: null });
  await rig.client.waitForTransactionReceipt({ hash });
}

/** Signs what is no payout. */
const signSelf = (own: number) =>
  account.signTransaction({
    ...{ to: account.address, type: 'eip1559', chainId: 31_337, nonce: own, gas: 21_000n },
    ...{ maxFeePerGas: parseGwei('20'), maxPriorityFeePerGas: parseGwei('1') },
  });

const waitForCount = (count: number) =>
  waitUntil(async () => (await rig.client.getTransactionCount({ address: account.address })) === count, {
    timeoutMs: TIMEOUT_MS,
    what: `the account nonce is not ${count}`,
  });

// Shows PAY-13.
test('once a plain transfer has paid, no further one goes out on whatever account nonce', async () => {
  const { send, broadcasts } = openGuard();
  const raw = await signOn(nonce);
  expect(await send(raw)).toBe(true);
  // Kept, so that it can be broadcast again after a reorganisation.
  expect(broadcasts.list()).toEqual([{ txHash: keccak256(raw), nonce, raw }]);
  await waitForCount(nonce + 1);
  expect(await send(await signOn(nonce + 1))).toBe(false);
  expect(broadcasts.list()).toHaveLength(1);
});

// Shows PAY-11.
test('beside another instance no plain transfer goes out, and payouts through the contract do', async () => {
  const { address: other } = await rig.fundKey();
  const payouts = await rig.deployPayouts([account.address, other]);
  const { send } = openGuard({ others: [other] });
  expect(await send(await signOn(nonce))).toBe(false);
  expect(await send(await signOn(nonce, payouts))).toBe(true);
  await waitForCount(nonce + 1);
});

// Shows PAY-13.
test('behind a gap, where no other instance would see it wait, no plain transfer goes out', async () => {
  const { send } = openGuard();
  const [free, paid] = await Promise.all([signSelf(nonce), signOn(nonce + 1)]);
  await expect(send(paid)).rejects.toThrow(`the transaction of account nonce ${nonce}, before it, has not gone out`);
  // Asked about at once, lowest first, as the sender does.
  expect(await Promise.all([send(free), send(paid)])).toEqual([true, true]);
  await waitForCount(nonce + 2);
});

// Shows PAY-13.
test('a gap is not filled before a payout behind it, whose payment another address has paid meanwhile', async () => {
  const { ask, send } = openGuard();
  const [free, paid] = await Promise.all([signSelf(nonce), signOn(nonce + 1)]);
  // The node forgets the first.
  expect(await ask(free)).toBe(true);
  expect(await send(paid)).toBe(true);
  await payByAnother();
  await expect(ask(free)).rejects.toThrow('a payout behind it was paid by another address meanwhile');
  expect(await ask(paid)).toBe(false);
  expect(await ask(await signSelf(nonce + 1))).toBe(true);
  expect(await ask(free)).toBe(true);
});

// Shows PAY-13.
test('a node that does not count what waits, and knows it, keeps no transfer behind it back', async () => {
  const count = numberToHex(nonce);
  await using proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (method) => (method === 'eth_getTransactionCount' ? { kind: 'answer', result: count } : undefined),
  });
  const { ask, send } = openGuard({ rpcUrl: proxy.url });
  await rig.client.setAutomine(false);
  try {
    expect(await send(await signSelf(nonce))).toBe(true);
    const paid = await signOn(nonce + 1);
    // Longer ago than what counts as on its way.
    expect([await ask(paid), await ask(paid), await ask(paid)]).toEqual([true, true, true]);
  } finally {
    await rig.client.setAutomine(true);
  }
});

// Shows PAY-13.
test('a transfer whose payment another instance has claimed meanwhile never goes out, and one that is out goes on', async () => {
  const { ask, claim } = openGuard();
  claim.isHeld = false;
  expect(await ask(await signOn(nonce))).toBe(false);
  claim.isHeld = true;
  const raw = await signOn(nonce);
  expect(await ask(raw)).toBe(true);
  claim.isHeld = false;
  expect(await ask(raw)).toBe(true);
});
