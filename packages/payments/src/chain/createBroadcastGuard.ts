import { createRpcClient, createRpcTransport } from '@prism-gateway/node/rpc';
import type { SenderAccount } from '@prism-gateway/sender';
import { type Address, type Hex, type PublicClient, parseTransaction, type Transport } from 'viem';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { RelayerConfig } from '../relayerConfig.ts';
import { KeyUsedElsewhereError, type KeyWatch } from './createKeyWatch.ts';
import type { TransferSearch } from './createTransferSearch.ts';
import { describeTransaction } from './describeTransaction.ts';
import { isCounted } from './isCounted.ts';

/** The parts of a guard. */
export interface BroadcastGuardOptions {
  readonly client: PublicClient;
  readonly rpcUrl: string;
  readonly timeoutMs: number;
  readonly account: SenderAccount;
  /** With the other instances' addresses: beside them nothing is paid by a plain transfer. */
  readonly config: Pick<RelayerConfig, 'self' | 'others' | 'creditToken'>;
  readonly journal: Pick<PaymentJournal, 'marks' | 'broadcasts' | 'fact'>;
  readonly search: TransferSearch;
  readonly watch: KeyWatch;
  /** Longest time between the look at the chain and the broadcast, in milliseconds. */
  readonly freshMs: number;
  /** Milliseconds, of a clock that never goes back. */
  readonly monotonicNow: () => number;
}

/** Stands between the sender and the node, so that no plain transfer pays what is paid. */
export interface BroadcastGuard {
  /** For the sender: every broadcast of a payout, the first or the tenth, is checked at that moment. */
  readonly transport: Transport;
  /** For the sender: signs nothing, to oneself, in place of a payout that must never be. */
  readonly account: SenderAccount;
}

/** A payout, as calldata says it. */
interface Payout {
  readonly mark: Hex;
  /** Lower case. */
  readonly wallet: Address;
  /** Whether it goes by a transfer of the token, which nothing on the chain makes once; the contract `Payouts` does. */
  readonly isPlain: boolean;
}

/** JSON-RPC's code for errors of the server's own. */
const SERVER_ERROR = -32_000;
/** Begins with a node's words, so that the sender offers another version, which is the one that pays nobody. */
const NEVER = 'replacement transaction underpriced: the payment is paid, or other instances may pay it';

/** The guard's answer in place of the node's; the sender reads it as it reads a node's words. */
class BroadcastRefusedError extends Error {
  override readonly name = 'BroadcastRefusedError';
  readonly code = SERVER_ERROR;
}

/**
 * Creates the guard.
 *
 * @returns transport and account for the sender
 * @see docs/payments.md, "Why it cannot pay twice"
 */
export function createBroadcastGuard(options: BroadcastGuardOptions): BroadcastGuard {
  const { account, client, config, journal, search, watch, freshMs, monotonicNow } = options;
  const { marks, broadcasts } = journal;
  const { creditToken, others } = config;
  const isAlone = others.length === 0;

  /** Whether a payout may still be: through `Payouts` always, for a second one reverts. @returns when the chain was looked at */
  async function evaluate({
    mark,
    wallet,
    isPlain,
  }: Payout): Promise<{ readonly mayPay: boolean; readonly lookedAtMs: number }> {
    if (!isPlain) return { mayPay: true, lookedAtMs: monotonicNow() };
    const { beganAtMs: lookedAtMs } = await search.search({ notOlderMs: freshMs / 2, wallet });
    // By this instance on another account nonce, where a reorganisation or an older journal has freed the one of before.
    const isPaid = marks.find(mark).some((found) => isCounted(options, found));
    return { mayPay: isAlone && !isPaid, lookedAtMs };
  }

  /** @returns undefined: it is no payout */
  function findPayout(transaction: { to?: Address | null | undefined; data?: Hex | undefined }): Payout | undefined {
    const { to = null, data: input = '0x' } = transaction;
    const payout = describeTransaction({ to, input }, creditToken);
    if (payout === undefined) return undefined;
    return { mark: payout.mark, wallet: payout.recipient, isPlain: to?.toLowerCase() === creditToken.toLowerCase() };
  }

  /**
   * Makes sure that nobody else's payout of it waits in the node: of an instance that nobody has named, whose claim ended before it was mined.
   * A transfer that the pending block lacks is mined in the ones before it, which are searched next, or not broadcast. A node without one says nothing.
   */
  async function checkPending({ mark, isPlain }: Payout): Promise<void> {
    if (!isPlain) return;
    const block = await client.request({ method: 'eth_getBlockByNumber', params: ['pending', true] }).catch(() => null);
    if (block === null) return;
    const isOthers = ({ from }: { from: Address }) => from.toLowerCase() !== account.address.toLowerCase();
    for (const one of block.transactions)
      if (typeof one !== 'string' && isOthers(one) && describeTransaction(one, creditToken)?.mark === mark)
        throw new BroadcastRefusedError('a payout of it by another address waits to be mined');
    if (block.number !== null) search.saw(Number(block.number) - 1);
  }

  /** Lets a payout out, or refuses it. */
  async function guardPayout(payout: Payout): Promise<void> {
    await checkPending(payout);
    const [{ mayPay, lookedAtMs }] = await Promise.all([
      evaluate(payout),
      watch.check().catch((error: unknown) => {
        throw error instanceof KeyUsedElsewhereError ? new BroadcastRefusedError(error.message) : error;
      }),
    ]);
    if (!mayPay) throw new BroadcastRefusedError(NEVER);
    if (monotonicNow() - lookedAtMs > freshMs) throw new BroadcastRefusedError('the look at the chain is too old');
  }

  async function guardBroadcast(raw: Hex): Promise<void> {
    // The sender signs nothing but EIP-1559 transactions.
    const transaction = parseTransaction(raw as `0x02${string}`);
    const { nonce = 0 } = transaction;
    const payout = findPayout(transaction);
    if (payout !== undefined) await guardPayout(payout);
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
      // The one parameter of this method is the signed transaction.
      if (call.method === 'eth_sendRawTransaction') await guardBroadcast((call.params as [Hex])[0]);
      return await ask(call, ...rest);
    }) as typeof inner.request;
    return { ...inner, request };
  };

  return {
    transport,
    account: {
      address: account.address,
      async signTransaction(transaction) {
        const payout = findPayout(transaction);
        const mayBe = payout === undefined || (await evaluate(payout)).mayPay;
        if (mayBe) return await account.signTransaction(transaction);
        return await account.signTransaction({ ...transaction, to: account.address, data: '0x', value: 0n });
      },
    },
  };
}
