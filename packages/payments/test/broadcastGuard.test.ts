import { join } from 'node:path';
import { createOutbox } from '@prism-gateway/node/alerts';
import { createLogRecorder } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { type Address, createPublicClient, type Hex, http, keccak256, parseGwei } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { createBroadcastGuard } from '../src/chain/createBroadcastGuard.ts';
import { createKeyWatch } from '../src/chain/createKeyWatch.ts';
import { createTransferSearch } from '../src/chain/createTransferSearch.ts';
import { encodePayout, markPayout } from '../src/chain/marks.ts';
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

function openGuard(others: readonly Address[] = []) {
  const { creditToken } = rig.deployment;
  const journal = openPaymentJournal({ file: join(rig.dir, `guard-${files++}.db`), now: Date.now });
  const client = createPublicClient({ transport: http(rig.rpcUrl), pollingInterval: 20 });
  // A clock of its own: beside a load a look at the chain may take longer than it counts as fresh.
  let nowMs = 0;
  const monotonicNow = () => nowMs;
  const { marks, broadcasts } = journal;
  const search = createTransferSearch({
    client,
    marks,
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
  const options = { client, rpcUrl: rig.rpcUrl, timeoutMs: 10_000, config, account, journal, freshMs: FRESH_MS };
  const guard = createBroadcastGuard({ ...options, search, watch, monotonicNow });
  const { request } = guard.transport({ retryCount: 0 });
  async function send(raw: Hex) {
    // What the guard has seen of the chain serves for a while.
    nowMs += FRESH_MS / 2 + 20;
    return await request({ method: 'eth_sendRawTransaction', params: [raw] });
  }
  return { guard, broadcasts, send };
}

const payout = (payouts?: Address) =>
  encodePayout({ creditToken: rig.deployment.creditToken, payouts, paymentIntentId, walletAddress, credits: 5n });

/** The request that the sender signs on an account nonce. */
const requestOn = (own: number, payouts?: Address) =>
  ({
    ...payout(payouts),
    value: 0n,
    type: 'eip1559',
    chainId: 31_337,
    nonce: own,
    gas: 200_000n,
    maxFeePerGas: parseGwei('20'),
    maxPriorityFeePerGas: parseGwei('1'),
  }) as const;

const signOn = (own: number, payouts?: Address) => account.signTransaction(requestOn(own, payouts));

const waitForCount = (count: number) =>
  waitUntil(async () => (await rig.client.getTransactionCount({ address: account.address })) === count, {
    timeoutMs: TIMEOUT_MS,
    what: `the account nonce is not ${count}`,
  });

// Shows PAY-13.
test('once a plain transfer has paid, no further one goes out on whatever account nonce, and what is signed in its place pays nobody', async () => {
  const { guard, send, broadcasts } = openGuard();
  const raw = await signOn(nonce);
  await send(raw);
  // Kept, so that it can be broadcast again after a reorganisation.
  expect(broadcasts.list()).toEqual([{ txHash: keccak256(raw), nonce, raw }]);
  await waitForCount(nonce + 1);
  await expect(send(await signOn(nonce + 1))).rejects.toThrow('the payment is paid');
  const inPlace = await guard.account.signTransaction(requestOn(nonce + 1));
  expect(inPlace).not.toContain(markPayout(paymentIntentId).slice(2));
  await send(inPlace);
  await waitForCount(nonce + 2);
  expect(await rig.countPayouts(markPayout(paymentIntentId))).toBe(1);
});

// Shows PAY-11.
test('beside another instance no plain transfer goes out, and payouts through the contract do', async () => {
  const { address: other } = await rig.fundKey();
  const payouts = await rig.deployPayouts([account.address, other]);
  const { guard, send } = openGuard([other]);
  await expect(send(await signOn(nonce))).rejects.toThrow('other instances may pay it');
  expect(await guard.account.signTransaction(requestOn(nonce))).not.toContain(markPayout(paymentIntentId).slice(2));
  const through = await guard.account.signTransaction(requestOn(nonce, payouts));
  expect(through).toContain(markPayout(paymentIntentId).slice(2));
  await send(through);
  await waitForCount(nonce + 1);
});
