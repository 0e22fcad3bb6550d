import { join } from 'node:path';
import { createOutbox } from '@prism-gateway/alerts';
import { createLogRecorder } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { type Address, createPublicClient, type Hex, http, keccak256, parseGwei } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { createKeyWatch } from '../src/chain/createKeyWatch.ts';
import { createMarkSearch } from '../src/chain/createMarkSearch.ts';
import { createPayoutFence } from '../src/chain/createPayoutFence.ts';
import { type ChainCall, encodeAnnouncement, encodePayout, markPayout } from '../src/chain/marks.ts';
import type { BroadcastTable } from '../src/journal/createBroadcastTable.ts';
import { openPaymentJournal } from '../src/journal/openPaymentJournal.ts';

const STAND_MS = 200;
const FRESH_MS = 500;

let rig: PaymentsRig;
let account: PrivateKeyAccount;
let rival: PrivateKeyAccount;
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
  rival = privateKeyToAccount((await rig.fundKey()).privateKey);
  ({ paymentIntentId, walletAddress } = rig.addPayment(1_000_000n));
  await rig.giveCredits(account.address, 1000n);
  nonce = await rig.client.getTransactionCount({ address: account.address });
});

/** The fence of `account`, who knows of `rival`. */
function openFence() {
  const { creditToken, stablecoin } = rig.deployment;
  const journal = openPaymentJournal({ file: join(rig.dir, `fence-${files++}.db`), now: Date.now });
  const client = createPublicClient({ transport: http(rig.rpcUrl), pollingInterval: 20 });
  // A clock of its own: beside a load a look at the chain may take longer than it counts as fresh.
  let nowMs = 0;
  const monotonicNow = () => nowMs;
  const { marks, broadcasts } = journal;
  const search = createMarkSearch({
    client,
    marks,
    broadcasts,
    chainId: 31_337,
    self: account.address,
    creditToken,
    stablecoin,
    relayers: [account.address, rival.address],
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
  const fence = createPayoutFence({
    rpcUrl: rig.rpcUrl,
    timeoutMs: 10_000,
    client,
    creditToken,
    account,
    others: [rival.address],
    marks,
    broadcasts,
    search,
    watch,
    freshMs: FRESH_MS,
    standMs: STAND_MS,
    monotonicNow,
  });
  const { request } = fence.transport({ retryCount: 0 });
  const goOn = () => {
    nowMs += FRESH_MS / 2 + 20;
  };
  async function send(raw: Hex) {
    // What the fence has seen of the chain serves for a while.
    goOn();
    return await request({ method: 'eth_sendRawTransaction', params: [raw] });
  }
  return { fence, broadcasts, send, goOn };
}

async function sign(call: ChainCall, own: number, signer = account): Promise<Hex> {
  return await signer.signTransaction({
    ...call,
    type: 'eip1559',
    chainId: await rig.client.getChainId(),
    nonce: own,
    gas: 100_000n,
    maxFeePerGas: parseGwei('20'),
    maxPriorityFeePerGas: parseGwei('1'),
  });
}

const payout = () =>
  encodePayout({ creditToken: rig.deployment.creditToken, paymentIntentId, walletAddress, credits: 5n });
const announcement = (self: Address) =>
  encodeAnnouncement({ creditToken: rig.deployment.creditToken, paymentIntentId, self });
const nothing = (): ChainCall => ({ to: account.address, data: '0x' });

async function announce(signer: PrivateKeyAccount): Promise<void> {
  const own = await rig.client.getTransactionCount({ address: signer.address });
  await sendBare(await sign(announcement(signer.address), own, signer));
}

async function sendBare(raw: Hex): Promise<void> {
  const hash = await rig.client.sendRawTransaction({ serializedTransaction: raw });
  await rig.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
}

const waitForCount = (count: number) =>
  waitUntil(async () => (await rig.client.getTransactionCount({ address: account.address })) === count, {
    timeoutMs: PATIENCE_MS,
    what: `the account nonce is not ${count}`,
  });

const countPayouts = () => rig.countPayouts(markPayout(paymentIntentId));

/** A payout that was let out while all was well; then what came before it was lost. @returns its bytes */
async function leaveWaiting(broadcasts: BroadcastTable): Promise<Hex> {
  const raw = await sign(payout(), nonce + 2);
  broadcasts.add({ nonce: nonce + 2, raw });
  await rig.client.sendRawTransaction({ serializedTransaction: raw });
  return raw;
}

// Shows PAY-11.
test('a payout goes out once it is announced and all before it is in the node', async () => {
  const { send, broadcasts } = openFence();
  await expect(send(await sign(payout(), nonce))).rejects.toThrow('the announcement is not on the chain');
  await announce(account);
  await expect(send(await sign(payout(), nonce + 2))).rejects.toThrow('what comes before it is not in the node');
  const raw = await sign(payout(), nonce + 1);
  await send(raw);
  // Kept, so that it can be broadcast again after a reorganisation.
  expect(broadcasts.list()).toEqual([{ txHash: keccak256(raw), nonce: nonce + 1, raw }]);
  await waitForCount(nonce + 2);
  expect(await countPayouts()).toBe(1);
});

// Shows PAY-13.
test('once it is paid, no further payout goes out, on whatever account nonce', async () => {
  const { send } = openFence();
  await announce(account);
  await send(await sign(payout(), nonce + 1));
  await waitForCount(nonce + 2);
  await expect(send(await sign(payout(), nonce + 2))).rejects.toThrow('the payment is paid');
  expect(await countPayouts()).toBe(1);
});

// Shows PAY-13.
test('a payout that waits behind a gap is made impossible before the gap is filled, if another instance pays now', async () => {
  const { send, broadcasts } = openFence();
  await announce(account);
  const waiting = await leaveWaiting(broadcasts);
  await announce(rival);
  await send(await sign(nothing(), nonce + 1));
  await waitForCount(nonce + 3);
  expect(await countPayouts()).toBe(0);
  expect(await rig.client.getTransactionReceipt({ hash: keccak256(waiting) }).catch(() => undefined)).toBeUndefined();
});

test('a payout that waits behind a gap goes out with what fills it, if it is still this instance that pays', async () => {
  const { send, broadcasts } = openFence();
  await announce(account);
  await leaveWaiting(broadcasts);
  await send(await sign(nothing(), nonce + 1));
  await waitForCount(nonce + 3);
  expect(await countPayouts()).toBe(1);
});

test('a payout that waits behind a gap, and whose announcement a reorganisation took, is left to wait while nobody else announces', async () => {
  const { send, broadcasts } = openFence();
  await leaveWaiting(broadcasts);
  await send(await sign(nothing(), nonce));
  await send(await sign(nothing(), nonce + 1));
  await waitForCount(nonce + 3);
  expect(await countPayouts()).toBe(1);
});

test('a payout whose announcement does not come back makes room, and is not signed anew before another attempt, though it come back then', async () => {
  const { send, fence, goOn } = openFence();
  const refused = await sign(payout(), nonce);
  const isReplaced = async () => {
    await expect(send(refused)).rejects.toThrow('the announcement is not on the chain');
    return (await rig.client.getTransactionCount({ address: account.address })) > nonce;
  };
  await waitUntil(isReplaced, { timeoutMs: PATIENCE_MS, what: 'it makes no room' });
  await announce(account);
  const mark = markPayout(paymentIntentId).slice(2);
  const request = {
    ...payout(),
    value: 0n,
    type: 'eip1559',
    chainId: 31_337,
    nonce: nonce + 2,
    gas: 100_000n,
  } as const;
  const signAgain = () => fence.account.signTransaction({ ...request, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
  expect(await signAgain()).not.toContain(mark);
  fence.renew(paymentIntentId);
  goOn();
  expect(await signAgain()).toContain(mark);
  expect(await countPayouts()).toBe(0);
});

test('a payout refused again and again makes room for what comes after it', async () => {
  const { send, fence } = openFence();
  await announce(account);
  await announce(rival);
  const refused = await sign(payout(), nonce + 1);
  for (let times = 0; times < 4; times++) await expect(send(refused)).rejects.toThrow('another instance pays');
  await waitForCount(nonce + 2);
  // Nor is it signed anew before another attempt begins.
  const request = { ...payout(), value: 0n, type: 'eip1559', chainId: 31337, nonce: nonce + 2, gas: 100_000n } as const;
  const signed = await fence.account.signTransaction({ ...request, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
  expect(signed).not.toContain(markPayout(paymentIntentId).slice(2));
  expect(await countPayouts()).toBe(0);
});

// Shows PAY-12.
test('an announcement over that of another instance must stand for a while before the payout goes out', async () => {
  const { send } = openFence();
  await announce(rival);
  await announce(account);
  const raw = await sign(payout(), nonce + 1);
  await expect(send(raw)).rejects.toThrow('has not stood long enough');
  await waitUntil(
    () =>
      send(raw).then(
        () => true,
        () => false,
      ),
    { timeoutMs: PATIENCE_MS, what: 'never let out' },
  );
  await waitForCount(nonce + 2);
  expect(await countPayouts()).toBe(1);
});
