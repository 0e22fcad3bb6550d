import type { SenderAccount } from '@prism-gateway/sender';
import { type Address, type Hex, http, type LocalAccount, parseTransaction, type Transport } from 'viem';
import type { BroadcastTable } from '../journal/broadcastTable.ts';
import type { MarkTable, PlacedMark } from '../journal/markTable.ts';
import { describeTransaction, type MarkSearch } from './createMarkSearch.ts';
import { markAnnouncement, markPayout } from './marks.ts';

/**
 * May this instance broadcast a payout?
 *
 * - `yes`: nobody else has announced the payment after this instance did, and nobody else has paid it
 * - `never`: somebody else has; whatever is signed for it must not reach a node
 * - `later`: this instance's own announcement is not on the chain (any more, or yet), or has not stood long enough over another's
 */
export type FenceVerdict = 'yes' | 'never' | 'later';

/** What a fence is made of. */
export interface FenceOptions {
  readonly rpcUrl: string;
  readonly timeoutMs: number;
  readonly creditToken: Address;
  readonly account: LocalAccount;
  /** Addresses of the other instances; none: there is nobody to be kept apart from. */
  readonly others: readonly Address[];
  readonly marks: MarkTable;
  readonly broadcasts: BroadcastTable;
  readonly search: MarkSearch;
  /** Longest time between the look at the chain and the broadcast, in milliseconds. */
  readonly freshMs: number;
  /** How long an announcement must have stood in its place where another instance announced before, in milliseconds. */
  readonly standMs: number;
  /** Milliseconds, of a clock that never goes back. */
  readonly monotonicNow: () => number;
}

/** Stands between the sender and the node, so that no payout goes out that another instance may make. */
export interface PayoutFence {
  /** For the sender: every broadcast of a payout, the first or the tenth, is checked at that moment. */
  readonly transport: Transport;
  /** For the sender: signs nothing, to oneself, in place of a payout that must never be. */
  readonly account: SenderAccount;
  /** Tells the fence of a payment before its payout is given to the sender. */
  register(paymentIntentId: string): void;
  /** Looks at the chain and judges. */
  judge(paymentIntentId: string): Promise<FenceVerdict>;
  /** Whether signed bytes are a payout. */
  isPayout(raw: Hex): boolean;
}

/** JSON-RPC's code for errors of the server's own. */
const SERVER_ERROR = -32_000;

/** The fence's answer in place of the node's; the sender reads it as it reads a node's words. */
class FencedError extends Error {
  override readonly name = 'FencedError';
  readonly code = SERVER_ERROR;
}

function lower(address: Address): string {
  return address.toLowerCase();
}

function isAfter(one: PlacedMark, other: PlacedMark): boolean {
  if (one.blockNumber !== other.blockNumber) return one.blockNumber > other.blockNumber;
  return one.txIndex > other.txIndex;
}

/**
 * Judges by what has been found on the chain.
 *
 * @param context - table, and whose payout it would be
 * @param paymentIntentId - the payment
 * @returns the verdict
 */
export function judgePayout(
  context: { readonly marks: MarkTable; readonly self: Address },
  paymentIntentId: string,
): FenceVerdict {
  const self = lower(context.self);
  const isPaidByOthers = context.marks
    .find(markPayout(paymentIntentId))
    .some(({ kind, sender }) => kind === 'payout' && lower(sender) !== self);
  if (isPaidByOthers) return 'never';
  const announcements = context.marks.find(markAnnouncement(paymentIntentId));
  const own = announcements.findLast(({ sender }) => lower(sender) === self);
  if (own === undefined) return 'later';
  const isOvertaken = announcements.some((other) => lower(other.sender) !== self && isAfter(other, own));
  return isOvertaken ? 'never' : 'yes';
}

/**
 * Creates the fence.
 *
 * @param options - chain, account, and who the others are
 * @returns transport and account for the sender
 * @see docs/payments.md, "Two instances"
 */
export function createPayoutFence(options: FenceOptions): PayoutFence {
  const { account, marks, search, freshMs, monotonicNow } = options;
  const isAlone = options.others.length === 0;
  const idsByMark = new Map<Hex, string>();
  const standing = new Map<Hex, { readonly place: string; readonly sinceMs: number }>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  /** A reorganisation may put announcements in another order: then the wait of a takeover begins anew. */
  function hasStood(paymentIntentId: string): boolean {
    const mark = markAnnouncement(paymentIntentId);
    const announcements = marks.find(mark);
    const own = announcements.at(-1);
    if (own === undefined || announcements.every(({ sender }) => sender === own.sender)) return true;
    const place = `${own.txHash} ${own.blockNumber} ${own.txIndex}`;
    const known = standing.get(mark);
    if (known?.place === place) return monotonicNow() - known.sinceMs >= options.standMs;
    standing.set(mark, { place, sinceMs: monotonicNow() });
    return false;
  }

  async function judge(paymentIntentId: string): Promise<FenceVerdict> {
    if (isAlone) return 'yes';
    if (monotonicNow() - lookedAtMs > freshMs / 2) lookedAtMs = (await search.search()).beganAtMs;
    const verdict = judgePayout({ marks, self: account.address }, paymentIntentId);
    return verdict === 'yes' && !hasStood(paymentIntentId) ? 'later' : verdict;
  }

  /** The payment whose payout a transaction is; undefined: it is none. */
  function findPayment(transaction: { to?: Address | null | undefined; data?: Hex | undefined }): string | undefined {
    const { to = null, data: input = '0x' } = transaction;
    const described = describeTransaction({ hash: '0x', from: account.address, to, input }, options.creditToken);
    if (described.kind !== 'payout' || described.mark === undefined) return undefined;
    return idsByMark.get(described.mark) ?? '';
  }

  async function guardBroadcast(raw: Hex): Promise<void> {
    // The sender signs nothing but EIP-1559 transactions.
    const transaction = parseTransaction(raw as `0x02${string}`);
    options.broadcasts.add({ nonce: transaction.nonce ?? 0, raw });
    if (isAlone) return;
    const paymentIntentId = findPayment(transaction);
    if (paymentIntentId === undefined) return;
    if (paymentIntentId === '') throw new FencedError('a payout of an unknown payment');
    const verdict = await judge(paymentIntentId);
    // The sender offers another version at once, which is the one that pays nobody.
    if (verdict === 'never') throw new FencedError('replacement transaction underpriced: another instance pays');
    if (verdict === 'later')
      throw new FencedError('the announcement is not on the chain, or has not stood long enough');
    if (monotonicNow() - lookedAtMs > freshMs) throw new FencedError('the look at the chain is too old');
  }

  const transport: Transport = (parameters) => {
    const inner = http(options.rpcUrl, { batch: true, timeout: options.timeoutMs, retryCount: 0 })(parameters);
    // The type of `request` maps each method to its answer; the wrapper passes answers on as they are.
    const request = (async (call: { method: string; params?: unknown }, ...rest: unknown[]) => {
      // The one parameter of this method is the signed transaction.
      if (call.method === 'eth_sendRawTransaction') await guardBroadcast((call.params as [Hex])[0]);
      return await (inner.request as (...parameters: unknown[]) => Promise<unknown>)(call, ...rest);
    }) as typeof inner.request;
    return { ...inner, request };
  };

  return {
    transport,
    account: {
      address: account.address,
      async signTransaction(transaction) {
        const paymentIntentId = findPayment(transaction);
        if (paymentIntentId === undefined || isAlone) return await account.signTransaction(transaction);
        if (paymentIntentId !== '' && (await judge(paymentIntentId)) !== 'never') {
          return await account.signTransaction(transaction);
        }
        return await account.signTransaction({ ...transaction, to: account.address, data: '0x', value: 0n });
      },
    },
    register: (paymentIntentId) => void idsByMark.set(markPayout(paymentIntentId), paymentIntentId),
    judge,
    // Only EIP-1559 transactions are broadcast.
    isPayout: (raw) => findPayment(parseTransaction(raw as `0x02${string}`)) !== undefined,
  };
}
