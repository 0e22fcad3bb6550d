import { setTimeout as pause } from 'node:timers/promises';
import type { Hash } from 'viem';
import { alertPayment } from '../alerts/alertPayment.ts';
import { payoutIdOf } from '../chain/calls.ts';
import type { Payment } from '../journal/payment.ts';
import { findPayout, isOwedAmount, reviseOwnPayout, takePayout, throughContractFact } from './findPayout.ts';
import type { PayerContext } from './payerContext.ts';

/** Names the journal's fact that a person vouches for a vanished payout: it will not come back. */
export function releasedFact(paymentIntentId: string): string {
  return `released:${paymentIntentId}`;
}

/** The payout can never be mined again: the payment is made anew, with the amount that it was. */
function makeAnew(context: PayerContext, { paymentIntentId, txHash, creditsOwed }: Payment, reason: string): void {
  const { journal, memory, log } = context;
  const amount = txHash === undefined ? undefined : journal.transfers.amountOf(txHash);
  const owed = amount ?? creditsOwed;
  log.warn({ paymentIntentId, txHash, reason }, 'a vanished payout is made anew');
  memory.bought.delete(paymentIntentId);
  journal.clearFact(releasedFact(paymentIntentId));
  const changes = { reason, ...reviseOwnPayout(context, paymentIntentId) };
  journal.move(paymentIntentId, 'claimed', { ...changes, ...(owed === undefined ? {} : { creditsOwed: owed }) });
}

/** A person must say: what its bytes were is forgotten, so that nobody here can know whether they come back. */
function takeForgotten(context: PayerContext, payment: Payment): void {
  const { journal } = context;
  const { paymentIntentId, txHash } = payment;
  if (journal.fact(releasedFact(paymentIntentId)) !== undefined) {
    makeAnew(context, payment, 'released by a person');
    return;
  }
  const reason = `Its payout ${txHash} is no longer on the chain, and its bytes are not in the journal.`;
  journal.commit(() => {
    journal.move(paymentIntentId, 'held', { reason });
    alertPayment(context, {
      paymentIntentId,
      alert: {
        code: 'PAYOUT_UNKNOWN',
        severity: 'critical',
        subject: `Payment ${paymentIntentId} is held: its payout has vanished`,
        text: `${reason} It is never paid again by itself. Should it come back, the payment goes on.`,
      },
    });
  });
}

/** Offers a node all that is kept from the first free account nonce up to one. */
async function broadcastAgain(context: PayerContext, nonces: { from: number; to: number }): Promise<void> {
  const { client, journal, guard, log } = context;
  for (const { raw, txHash, nonce } of journal.broadcasts.list()) {
    if (nonce < nonces.from || nonce > nonces.to) continue;
    try {
      if (await guard.mayBroadcast({ raw, nonce })) await client.sendRawTransaction({ serializedTransaction: raw });
    } catch (error) {
      // The node refuses a transaction that it has, or has another version of; the next look shows.
      log.debug({ txHash, reason: error instanceof Error ? error.name : 'unknown' }, 'not taken');
    }
  }
}

/** How many transactions of this instance no reorganisation can undo. */
async function countFinal({ client, config, reorgDepth }: PayerContext): Promise<number> {
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const depth = BigInt(reorgDepth);
  return await client.getTransactionCount({
    address: config.self,
    blockNumber: head > depth ? head - depth : 0n,
  });
}

/** How a receipt says that its transaction was not reverted. */
const SUCCESS = '0x1';

/** Whether the node has a receipt of a payout that its logs do not show: then they are behind. */
async function isStillMined({ client }: PayerContext, { txHash }: Payment): Promise<boolean> {
  if (txHash === undefined) return false;
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [txHash] });
  return receipt?.status === SUCCESS;
}

/** Whether a transaction of this journal's is mined on an account nonce: another version of the payout, or what took its place. */
async function isOwnNonce({ client, journal }: PayerContext, nonce: number): Promise<boolean> {
  const receipts = await Promise.all(
    journal.broadcasts
      .listOn(nonce)
      .map((hash) => client.request({ method: 'eth_getTransactionReceipt', params: [hash] })),
  );
  return receipts.some((receipt) => receipt !== null);
}

/** A payout of this instance: its bytes are offered again, until they are mined, or their account nonce is consumed for good. */
async function recoverOwn(context: PayerContext, payment: Payment, nonce: number): Promise<void> {
  const { client, config } = context;
  if ((await countFinal(context)) > nonce) {
    // The transaction that has taken the nonce may be the payout itself, of another price: the next look at the chain would show it.
    if ((await findPayout(context, payment)) === undefined && !(await isStillMined(context, payment))) {
      if (!(await isOwnNonce(context, nonce))) context.watch.takeForeign(nonce);
      makeAnew(context, payment, 'the account nonce of its payout is consumed by another transaction');
    }
    return;
  }
  const from = await client.getTransactionCount({ address: config.self, blockTag: 'latest' });
  if (from > nonce) return;
  await broadcastAgain(context, { from, to: nonce });
}

/**
 * Brings back a payout that a reorganisation has undone, or makes it anew once it can never come back.
 *
 * @throws KeyUsedElsewhereError if a foreign transaction has taken the payout's account nonce; viem's errors
 * @see docs/payments.md, "Why it cannot pay twice"
 */
export async function recoverVanished(context: PayerContext, payment: Payment): Promise<void> {
  const { config, journal, signal } = context;
  const payout = await findPayout(context, payment);
  if (payout !== undefined) return takePayout(context, { payment, payout });
  const { paymentIntentId, txHash, paidBy } = payment;
  if (paidBy?.toLowerCase() === config.self.toLowerCase()) {
    const nonce = txHash === undefined ? undefined : journal.broadcasts.nonceOf(txHash);
    if (nonce === undefined) return takeForgotten(context, payment);
    await recoverOwn(context, payment, nonce);
  } else {
    const contract = txHash === undefined ? undefined : journal.fact(throughContractFact(txHash));
    if (contract === undefined || contract !== config.payouts) return takeForgotten(context, payment);
    // Should the other's come back, the contract refuses whichever of the two is later.
    makeAnew(context, payment, 'the payout of another instance is no longer on the chain');
  }
  if (journal.get(paymentIntentId)?.state === 'vanished') {
    await pause(config.pollIntervalMs, undefined, { signal });
  }
}

/** Blocks for which a payout is still looked for in logs that have shown it before and no longer do: hours on most chains. */
const LOGS_BEHIND_BLOCKS = 1000;

/** Whether it is left alone so long as its payout is on the chain. One that is held for want of the payout's bytes is a person's. */
function isFinal({ journal }: PayerContext, { state, txHash }: Payment): boolean {
  if (state === 'held') return txHash !== undefined && journal.broadcasts.nonceOf(txHash) !== undefined;
  return state === 'completed';
}

/** Reports a second payout of what was owed, whoever has made it: nothing is paid back by itself. */
function alertPaidTwice({ journal, config, alerter }: PayerContext, payment: Payment): void {
  const { paymentIntentId, txHash } = payment;
  const name = `paid twice:${paymentIntentId}`;
  const others = journal.transfers
    .find(payoutIdOf(paymentIntentId))
    .filter((found) => found.txHash !== txHash && isOwedAmount(config, payment, found.amount));
  if (others.length === 0 || journal.fact(name) !== undefined) return;
  const list = others.map((found) => `${found.txHash} of ${found.sender}`).join(', ');
  journal.commit(() => {
    journal.setFact(name, list);
    alerter.raise({
      code: 'PAID_TWICE',
      severity: 'critical',
      subject: `Payment ${paymentIntentId} is paid twice`,
      text: `It is paid by ${txHash}, and by ${list}. Find out whose second transaction it is, and stop that instance.`,
    });
  });
}

/** Forgets the bytes of what is mined for good: all up to the last such payout, but not those of a payout that has vanished. */
function forgetFinal({ journal }: PayerContext, finalized: ReadonlySet<Hash | undefined>): void {
  const kept = journal.broadcasts.list();
  const last = kept.findLast(({ txHash }) => finalized.has(txHash))?.nonce;
  if (last === undefined) return;
  const unfinished = journal.listWatched().flatMap(({ txHash }) => {
    const nonce = txHash === undefined ? undefined : journal.broadcasts.nonceOf(txHash);
    return nonce === undefined ? [] : [nonce];
  });
  journal.broadcasts.forget(Math.min(last, ...unfinished.map((nonce) => nonce - 1)));
}

/** Drops calldata and signed bytes of what was called for final attempts, once the sender knows them for final. */
export async function pruneFinal({ journal, sender }: PayerContext): Promise<void> {
  const finalized = journal.listPrunable();
  if (finalized.length === 0) return;
  const pruned = await sender.prune(finalized);
  const unknown = finalized.filter((intentId) => sender.get(intentId) === undefined);
  journal.commit(() => [...pruned, ...unknown].forEach(journal.dropCall));
}

/**
 * The block of a payout. One that the search has not seen the node may have a receipt of: its logs were behind, for longer perhaps than blocks
 * are searched again by themselves.
 */
async function locate({ client, journal, search }: PayerContext, txHash: Hash): Promise<number | undefined> {
  const placed = journal.transfers.blockOf(txHash);
  if (placed !== undefined) return placed;
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [txHash] });
  if (receipt?.status !== SUCCESS) return undefined;
  const block = Number(receipt.blockNumber);
  search.startOver(block);
  return block;
}

/**
 * Looks after payouts until no reorganisation can undo them, those of this instance and those of others that it has completed. A payment
 * whose payout is no longer on the chain is moved to `vanished`.
 *
 * @returns how many have just become safe from it
 * @throws viem's errors
 * @see docs/specification.md PAY-15
 */
export async function watchPayouts(context: PayerContext): Promise<number> {
  const { journal, log, reorgDepth } = context;
  if (journal.listWatched().length === 0) return 0;
  const { headBlock } = await context.search.search();
  const finalized = new Set<Hash | undefined>();
  for (const payment of journal.listWatched()) {
    const { paymentIntentId, txHash } = payment;
    const block = txHash === undefined ? undefined : await locate(context, txHash);
    if (block !== undefined) alertPaidTwice(context, payment);
    if (txHash !== undefined && block !== undefined && headBlock - block >= reorgDepth) {
      const hasLostPlace = journal.transfers.has(txHash) && journal.transfers.blockOf(txHash) === undefined;
      if (hasLostPlace && headBlock - block < reorgDepth + LOGS_BEHIND_BLOCKS) continue;
      journal.unwatch(paymentIntentId);
      journal.clearFact(throughContractFact(txHash));
      finalized.add(txHash);
    } else if (block === undefined && isFinal(context, payment)) {
      log.warn({ paymentIntentId, txHash }, 'the payout has vanished from the chain');
      journal.move(paymentIntentId, 'vanished', { reason: `its payout ${txHash} is no longer on the chain` });
    }
  }
  forgetFinal(context, finalized);
  return finalized.size;
}
