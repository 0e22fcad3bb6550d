import { createRpcClient, createRpcTransport } from '@prism-gateway/rpc';
import type { SenderAccount } from '@prism-gateway/sender';
import { type Address, type Hex, type PublicClient, parseTransaction, type Transport } from 'viem';
import type { BroadcastTable } from '../journal/createBroadcastTable.ts';
import type { MarkTable } from '../journal/createMarkTable.ts';
import { KeyUsedElsewhereError, type KeyWatch } from './createKeyWatch.ts';
import type { MarkSearch } from './createMarkSearch.ts';
import { createReplacements } from './createReplacements.ts';
import { describeTransaction } from './describeTransaction.ts';
import { createStanding, type FenceVerdict, isContested, isPaid, judgePayout } from './judgePayout.ts';
import { markPayout } from './marks.ts';

/** What a fence is made of. */
export interface FenceOptions {
  readonly rpcUrl: string;
  readonly timeoutMs: number;
  readonly client: PublicClient;
  readonly creditToken: Address;
  readonly account: SenderAccount;
  /** Addresses of the other instances; none: there is nobody to be kept apart from. */
  readonly others: readonly Address[];
  readonly marks: MarkTable;
  readonly broadcasts: BroadcastTable;
  readonly search: MarkSearch;
  readonly watch: KeyWatch;
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
  /** A new attempt begins: what was given up of an earlier one no longer counts. */
  renew(paymentIntentId: string): void;
  /** Looks at the chain and judges. */
  judge(paymentIntentId: string): Promise<FenceVerdict>;
}

/** JSON-RPC's code for errors of the server's own. */
const SERVER_ERROR = -32_000;
/** Begins with a node's words, so that the sender offers another version, which is the one that pays nobody. */
const NEVER = 'replacement transaction underpriced: the payment is paid, or another instance pays';
const LATER = 'the announcement is not on the chain, or has not stood long enough';

/** The fence's answer in place of the node's; the sender reads it as it reads a node's words. */
class FencedError extends Error {
  override readonly name = 'FencedError';
  readonly code = SERVER_ERROR;
}

/** The node has it already. */
const KNOWN = /already known|already imported|already in/i;

/** Gives signed bytes to the node. */
type Send = (raw: Hex) => Promise<unknown>;

function parse(raw: Hex) {
  // The sender signs nothing but EIP-1559 transactions.
  return parseTransaction(raw as `0x02${string}`);
}

/**
 * Creates the fence.
 *
 * @param options - chain, account, and who the others are
 * @returns transport and account for the sender
 * @see docs/payments.md, "Two instances"
 */
export function createPayoutFence(options: FenceOptions): PayoutFence {
  const { account, marks, broadcasts, search, watch, freshMs, monotonicNow } = options;
  const isAlone = options.others.length === 0;
  /** Marks of payouts that were given up; the sender, which does not know, must not sign them anew. */
  const givenUp = new Set<Hex>();
  const standing = createStanding(options);
  const replacements = createReplacements({ ...options, isPayout: (raw) => findMark(parse(raw)) !== undefined });
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  async function judge(mark: Hex): Promise<FenceVerdict> {
    lookedAtMs = (await search.search({ notOlderMs: freshMs / 2 })).beganAtMs;
    const judged = { marks, self: account.address, mark };
    if (isAlone) return isPaid(judged) ? 'never' : 'yes';
    const verdict = judgePayout(judged);
    return verdict === 'yes' && !standing.hasStood(judged) ? 'later' : verdict;
  }

  /** The mark of the payout that a transaction is; undefined: it is none. */
  function findMark(transaction: { to?: Address | null | undefined; data?: Hex | undefined }): Hex | undefined {
    const { to = null, data: input = '0x' } = transaction;
    const described = describeTransaction({ hash: '0x', from: account.address, to, input }, options.creditToken);
    return described.kind === 'payout' ? described.mark : undefined;
  }

  async function substitute(payout: { raw: Hex; nonce: number; mark: Hex }, send: Send): Promise<void> {
    const taken = replacements.taken(payout.nonce) ?? (await replacements.make(payout));
    givenUp.add(payout.mark);
    await send(taken);
  }

  /**
   * A payout that waits in the node behind a gap of account nonces can be mined as soon as the gap is filled, long after it was let out. So
   * nothing goes out below one that may no longer be.
   */
  async function makeRoomAbove(nonce: number, send: Send): Promise<void> {
    for (const { raw, txHash, nonce: above } of broadcasts.list(nonce)) {
      const mark = findMark(parse(raw));
      if (mark === undefined) continue;
      const verdict = await judge(mark);
      if (verdict === 'yes' || marks.blockOf(txHash) !== undefined) continue;
      const isOurs = verdict === 'later' && !isContested({ marks, self: account.address, mark });
      if (isOurs) continue;
      try {
        await substitute({ raw, nonce: above, mark }, send);
      } catch (error) {
        if (error instanceof Error && KNOWN.test(error.message)) continue;
        throw new FencedError('a payout that waits behind it makes room first');
      }
    }
  }

  /** Lets a payout out, or refuses it; then something else may go out on its nonce. */
  async function guardPayout(payout: { raw: Hex; nonce: number; mark: Hex }, send: Send): Promise<void> {
    const { raw, nonce, mark } = payout;
    const [verdict, count] = await Promise.all([
      judge(mark),
      watch.check().catch((error: unknown) => {
        throw error instanceof KeyUsedElsewhereError ? new FencedError(error.message) : error;
      }),
    ]);
    const isTaken = replacements.taken(nonce) !== undefined;
    if (verdict === 'yes' && !isTaken) {
      if (!isAlone && count < nonce) throw new FencedError('what comes before it is not in the node');
      if (monotonicNow() - lookedAtMs <= freshMs) return;
      throw new FencedError('the look at the chain is too old');
    }
    const isDue = verdict !== 'yes' && replacements.isDue({ raw, nonce, verdict });
    // What the node says to it is nothing that the sender could use.
    if (isTaken || isDue) await substitute(payout, send).catch(() => undefined);
    throw new FencedError(verdict === 'later' ? LATER : NEVER);
  }

  async function guardBroadcast(raw: Hex, send: Send): Promise<void> {
    const transaction = parse(raw);
    const { nonce = 0 } = transaction;
    const mark = findMark(transaction);
    if (!isAlone) await makeRoomAbove(nonce, send);
    if (mark !== undefined) await guardPayout({ raw, nonce, mark }, send);
    watch.note(nonce);
    broadcasts.add({ nonce, raw });
  }

  // The sender repeats what may be repeated.
  const node = createRpcClient({ rpcUrl: options.rpcUrl, timeoutMs: options.timeoutMs });
  const transport: Transport = (parameters) => {
    const inner = createRpcTransport(node)(parameters);
    const ask = inner.request as (...parameters: unknown[]) => Promise<unknown>;
    // The type of `request` maps each method to its answer; the wrapper passes answers on as they are.
    const request = (async (call: { method: string; params?: unknown }, ...rest: unknown[]) => {
      if (call.method === 'eth_sendRawTransaction') {
        // The one parameter of this method is the signed transaction.
        await guardBroadcast((call.params as [Hex])[0], (raw) => ask({ ...call, params: [raw] }, ...rest));
      }
      return await ask(call, ...rest);
    }) as typeof inner.request;
    return { ...inner, request };
  };

  return {
    transport,
    account: {
      address: account.address,
      async signTransaction(transaction) {
        const mark = findMark(transaction);
        const isPossible = mark === undefined || (!givenUp.has(mark) && (await judge(mark)) !== 'never');
        if (isPossible) return await account.signTransaction(transaction);
        return await account.signTransaction({ ...transaction, to: account.address, data: '0x', value: 0n });
      },
    },
    renew: (paymentIntentId) => void givenUp.delete(markPayout(paymentIntentId)),
    judge: (paymentIntentId) => judge(markPayout(paymentIntentId)),
  };
}
