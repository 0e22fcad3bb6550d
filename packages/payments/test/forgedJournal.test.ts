import { join } from 'node:path';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { type Address, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { encodePayout, markAnnouncement, markPayout } from '../src/chain/marks.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import type { MarkedTransaction, Place } from '../src/journal/createMarkTable.ts';
import { openPaymentJournal, type PaymentJournal } from '../src/journal/openPaymentJournal.ts';
import { computeCreditsOwed } from '../src/payments/computeCredits.ts';
import { startForger } from './rig/forgeTransfers.ts';
import { runInstance } from './rig/runInstance.ts';
import { codesOf } from './rig/startScene.ts';

const AMOUNT = 5_000_000n;
const OWED = computeCreditsOwed(AMOUNT, 1000n);

interface Listed {
  readonly paymentIntentId: string;
  readonly walletAddress: Address;
}

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig();
});

afterAll(() => rig.close());

/** Writes marks as a version did that did not look at who sent a transaction. */
async function believe(journal: PaymentJournal, marks: readonly Omit<MarkedTransaction, 'sender'>[]) {
  const { creditToken, stablecoin } = rig.deployment;
  const scope = [await rig.client.getChainId(), creditToken, stablecoin].join(' ').toLowerCase();
  const added: MarkedTransaction[] = [];
  const places: Place[] = [];
  for (const mark of marks) {
    const { from, blockNumber, transactionIndex } = await rig.client.getTransaction({ hash: mark.txHash });
    // Lower case of an address is an address.
    added.push({ ...mark, sender: from.toLowerCase() as Address });
    places.push({ txHash: mark.txHash, blockNumber: Number(blockNumber), txIndex: Number(transactionIndex) });
  }
  journal.marks.replaceRange({ scope, relayers: [], fromBlock: 0, toBlock: 0, added, places });
}

const payoutOf = ({ paymentIntentId, walletAddress }: Listed, txHash: Hex, amount = OWED) => ({
  txHash,
  kind: 'payout' as const,
  mark: markPayout(paymentIntentId),
  recipient: walletAddress.toLowerCase() as Address,
  amount,
});

/** A peer that is named no longer has paid. */
async function payAs(peer: RigKey, payment: Listed): Promise<Hex> {
  await rig.giveCredits(peer.address, OWED);
  const wallet = createWalletClient({ account: privateKeyToAccount(peer.privateKey), transport: http(rig.rpcUrl) });
  const call = encodePayout({ creditToken: rig.deployment.creditToken, ...payment, credits: OWED });
  const hash = await wallet.sendTransaction({ ...call, chain: null });
  await rig.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  return hash;
}

// Shows PAY-9, PAY-10.
test('a journal of before that believed a forger: what nobody has paid is paid once, and what somebody has is not', async () => {
  const [key, peer] = [await rig.fundKey(), await rig.fundKey()];
  const forger = await startForger(rig, key.address);
  const frontend = await rig.startFrontend();
  const add = () => rig.addPayment(AMOUNT, frontend);
  const [completed, transferred, unseen, announced, byPeer] = [add(), add(), add(), add(), add()];
  const { creditToken } = rig.deployment;
  const forge = (payment: Listed, credits = OWED) =>
    forger.send(encodePayout({ creditToken, payouts: creditToken, ...payment, credits }).data);
  const forged = [
    await forge(completed),
    await forge(transferred, OWED * 1000n),
    await forge(unseen),
    await forge(announced),
  ];
  const [first, second, third, fourth] = forged as [Hex, Hex, Hex, Hex];
  const real = await payAs(peer, byPeer);
  const settings: Record<string, string> = { ...rig.settingsFor(key, [], frontend), TAKEOVER_WAIT_MS: '200' };
  const journal = openPaymentJournal({ file: join(`${settings.DATA_DIR}`, 'payments.db'), now: Date.now });
  journal.setFact('owner', `${key.address} on chain ${await rig.client.getChainId()}`);
  await believe(journal, [
    payoutOf(completed, first),
    payoutOf(transferred, second, OWED * 1000n),
    payoutOf(unseen, third),
    { txHash: fourth, kind: 'announce', mark: markAnnouncement(announced.paymentIntentId) },
    payoutOf(byPeer, real),
  ]);
  const { from: stranger } = await rig.client.getTransaction({ hash: first });
  for (const [payment, txHash, paidBy] of [
    [completed, first, stranger],
    [transferred, second, stranger],
  ] as const) {
    journal.add({ ...payment, stablecoinAmount: AMOUNT });
    journal.move(payment.paymentIntentId, 'claimed', { creditsOwed: OWED, rate: 1000n });
    journal.move(payment.paymentIntentId, 'transferred', { txHash, paidBy });
  }
  journal.move(completed.paymentIntentId, 'completed');
  journal.close();
  frontend.store.complete(completed.paymentIntentId, first);
  const run = async (...argv: readonly string[]) => {
    const printed: string[] = [];
    await runCommand(argv, { environment: settings, print: (text) => printed.push(text) });
    return printed.join('\n');
  };
  expect(await run('reconcile')).toContain(`${first} is no payout of it: ${stranger.toLowerCase()} is no relayer`);
  const instance = await runInstance(settings);
  await waitUntil(() => frontend.store.list().every(({ txHash }) => txHash !== undefined), {
    timeoutMs: PATIENCE_MS,
    what: 'not paid',
  });
  const creditsOf = () =>
    Promise.all([completed, transferred, unseen, announced, byPeer].map((one) => rig.creditsOf(one.walletAddress)));
  // The first is a person's: the frontend has it as paid.
  expect(await creditsOf()).toEqual([0n, OWED, OWED, OWED, OWED]);
  expect(instance.relayer.journal.get(completed.paymentIntentId)?.state).toBe('held');
  expect(codesOf(instance).slice(0, 2)).toEqual(['PAYOUT_FORGED', 'PAYOUT_FORGED']);
  expect(frontend.store.list().find(({ txHash }) => txHash === real)?.paymentIntentId).toBe(byPeer.paymentIntentId);
  await run('release', completed.paymentIntentId, '--why', 'nobody has made it good');
  await waitUntil(() => codesOf(instance).includes('COMPLETED_BY_ANOTHER_TRANSACTION'), {
    timeoutMs: PATIENCE_MS,
    what: 'not paid after all',
  });
  expect(await creditsOf()).toEqual([OWED, OWED, OWED, OWED, OWED]);
  await instance.stop();
  const again = await runInstance(settings);
  const last = add();
  await waitUntil(() => again.relayer.journal.get(last.paymentIntentId)?.state === 'completed', {
    timeoutMs: PATIENCE_MS,
    what: 'not paid at the next start',
  });
  expect(codesOf(again).filter((code) => code === 'PAYOUT_FORGED')).toEqual([]);
  await again.stop();
});
