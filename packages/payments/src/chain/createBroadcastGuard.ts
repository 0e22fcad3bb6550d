import { type Address, type Hex, type PublicClient, parseTransaction } from 'viem';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { PayerConfig } from '../payerConfig.ts';
import { KeyUsedElsewhereError, type KeyWatch } from './createKeyWatch.ts';
import type { TransferSearch } from './createTransferSearch.ts';
import { describeTransaction } from './describeTransaction.ts';
import { isCounted } from './isCounted.ts';

/** The parts of a guard. */
export interface BroadcastGuardOptions {
  readonly client: PublicClient;
  /** With the other instances' addresses: beside them nothing is paid by a plain transfer. */
  readonly config: Pick<PayerConfig, 'self' | 'others' | 'creditToken'>;
  readonly journal: Pick<PaymentJournal, 'transfers' | 'broadcasts' | 'fact'>;
  readonly search: TransferSearch;
  readonly watch: KeyWatch;
  /** Whether this instance holds the claim of a payout's payment, or cannot know; it throws while the frontend does not say. */
  readonly renewClaim: (payoutId: Hex) => Promise<boolean>;
  /** Longest time between the look at the chain and the broadcast, in milliseconds. */
  readonly freshMs: number;
  /** Milliseconds, of a clock that never goes back. */
  readonly monotonicNow: () => number;
}

/** Stands between the sender and the node, so that no plain transfer pays what is paid. */
export interface BroadcastGuard {
  /**
   * Whether signed bytes may go to the node: of every broadcast, the first or the tenth, it is asked at that moment, and remembers what it lets
   * out.
   *
   * @returns false: never, for the payment is paid, or another instance has claimed it or may pay it
   * @throws BroadcastRefusedError, viem's errors: not now
   */
  mayBroadcast(transaction: { readonly raw: Hex; readonly nonce: number }): Promise<boolean>;
}

/** A payout, as calldata says it. */
interface Payout {
  readonly payoutId: Hex;
  /** Lower case. */
  readonly wallet: Address;
  /** Whether it goes by a transfer of the token, which nothing on the chain makes once; the contract `Payouts` does. */
  readonly isPlain: boolean;
}

/** Whether it may be broadcast cannot be known now; the sender asks again. */
class BroadcastRefusedError extends Error {
  override readonly name = 'BroadcastRefusedError';
}

/**
 * Creates the guard.
 *
 * @see docs/payments.md, "Why it cannot pay twice"
 */
export function createBroadcastGuard(options: BroadcastGuardOptions): BroadcastGuard {
  const { client, config, journal, search, watch, renewClaim, freshMs, monotonicNow } = options;
  const { transfers, broadcasts } = journal;
  const { creditToken, others, self } = config;
  const isAlone = others.length === 0;

  /** Whether a payout may still be: through `Payouts` always, for a second one reverts. @returns when the chain was looked at */
  async function evaluate({
    payoutId,
    wallet,
    isPlain,
  }: Payout): Promise<{ readonly mayPay: boolean; readonly lookedAtMs: number }> {
    if (!isPlain) return { mayPay: true, lookedAtMs: monotonicNow() };
    // What is on its way already, another instance finds. Before the look at the chain, which has to be fresh, however slow the frontend is.
    const isOut = broadcasts.list().some(({ raw }) => readPayout(raw)?.payoutId === payoutId);
    const isOurs = isOut || (await renewClaim(payoutId));
    const { beganAtMs: lookedAtMs } = await search.search({ notOlderMs: freshMs / 2, wallet });
    // By this instance on another account nonce, if a reorganisation or an older journal has freed the one of before.
    const isPaid = transfers.find(payoutId).some((found) => isCounted(options, found));
    return { mayPay: isAlone && isOurs && !isPaid, lookedAtMs };
  }

  /** @returns undefined: it is no payout */
  function readPayout(raw: Hex): Payout | undefined {
    // The sender signs nothing but EIP-1559 transactions.
    const { to = null, data: input = '0x' } = parseTransaction(raw as `0x02${string}`);
    const payout = describeTransaction({ to, input }, creditToken);
    if (payout === undefined) return undefined;
    return {
      payoutId: payout.payoutId,
      wallet: payout.recipient,
      isPlain: to?.toLowerCase() === creditToken.toLowerCase(),
    };
  }

  /**
   * Makes sure that nobody else's payout of it waits in the node: of an instance that nobody has named, whose claim ended before it was mined.
   * A transfer that the pending block lacks is mined in the ones before it, which are searched next, or not broadcast. A node without one says nothing.
   */
  async function checkPending({ payoutId, isPlain }: Payout): Promise<void> {
    if (!isPlain) return;
    const block = await client.request({ method: 'eth_getBlockByNumber', params: ['pending', true] }).catch(() => null);
    if (block === null) return;
    const isOthers = ({ from }: { from: Address }) => from.toLowerCase() !== self.toLowerCase();
    for (const one of block.transactions)
      if (typeof one !== 'string' && isOthers(one) && describeTransaction(one, creditToken)?.payoutId === payoutId)
        throw new BroadcastRefusedError('a payout of it by another address waits to be mined');
    if (block.number !== null) search.saw(Number(block.number) - 1);
  }

  /** Questions that have no answer yet, by account nonce. */
  const underWay = new Map<number, Promise<boolean>>();
  /** When each account nonce was let out last. */
  const letOutAtMs = new Map<number, number>();

  /**
   * Makes sure that a plain transfer shows in the node's pending block: behind a gap it waits there unseen, and is mined whatever was paid
   * meanwhile.
   *
   * @param count - transactions of this account, with what waits in the node
   */
  async function checkGap(nonce: number, count: number): Promise<void> {
    for (const one of letOutAtMs.keys()) if (one < count) letOutAtMs.delete(one);
    for (let before = count; before < nonce; before++) {
      const isOnItsWay = monotonicNow() - (letOutAtMs.get(before) ?? Number.NEGATIVE_INFINITY) <= freshMs;
      if (isOnItsWay || (await isKnownToNode(before))) continue;
      throw new BroadcastRefusedError(`the transaction of account nonce ${before}, before it, has not gone out`);
    }
  }

  /** Whether a transaction of this account waits in the node, of which not every one counts what waits. */
  async function isKnownToNode(nonce: number): Promise<boolean> {
    const [hash] = broadcasts.listOn(nonce).toReversed();
    if (hash === undefined) return false;
    return (await client.request({ method: 'eth_getTransactionByHash', params: [hash] })) !== null;
  }

  /**
   * Makes sure that what fills a gap brings no plain transfer with it whose payment was paid while that waited behind the gap: the sender
   * replaces that one first.
   */
  async function checkBehind(nonce: number): Promise<void> {
    const behind = broadcasts.list().flatMap((one) => (one.nonce > nonce ? (readPayout(one.raw) ?? []) : []));
    // Where it waits in the node already, what is behind it shows there; if that is not known, each is looked at.
    if (behind.length === 0 || nonce < (await watch.check().catch(() => 0))) return;
    const answers = await Promise.all(behind.map(evaluate));
    if (answers.some(({ mayPay }) => !mayPay))
      throw new BroadcastRefusedError('a payout behind it was paid by another address meanwhile');
  }

  async function mayPayNow(payout: Payout, nonce: number): Promise<boolean> {
    await checkPending(payout);
    const before = [...underWay].filter(([one]) => one < nonce).map(([, answer]) => answer);
    const [{ mayPay, lookedAtMs }, count] = await Promise.all([
      evaluate(payout),
      watch.check().catch((error: unknown) => {
        throw error instanceof KeyUsedElsewhereError ? new BroadcastRefusedError(error.message) : error;
      }),
      Promise.allSettled(before),
    ]);
    if (mayPay && payout.isPlain) await checkGap(nonce, count);
    if (mayPay && monotonicNow() - lookedAtMs > freshMs)
      throw new BroadcastRefusedError('the look at the chain is too old');
    return mayPay;
  }

  async function letOut({ raw, nonce }: { readonly raw: Hex; readonly nonce: number }): Promise<boolean> {
    await checkBehind(nonce);
    const payout = readPayout(raw);
    if (payout !== undefined && !(await mayPayNow(payout, nonce))) return false;
    watch.note(nonce);
    broadcasts.add({ nonce, raw });
    letOutAtMs.set(nonce, monotonicNow());
    return true;
  }

  return {
    async mayBroadcast(transaction) {
      const { nonce } = transaction;
      const answer = letOut(transaction);
      underWay.set(nonce, answer);
      try {
        return await answer;
      } finally {
        if (underWay.get(nonce) === answer) underWay.delete(nonce);
      }
    },
  };
}
