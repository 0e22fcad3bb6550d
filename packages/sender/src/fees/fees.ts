import { RpcUnavailableError } from '@prism-gateway/node/rpc';
import type { BlockHead, Chain } from '../chain/createChain.ts';
import type { ChainView } from '../sender.ts';

/** The base fee may double before an offer is too low, which takes six full blocks; ten seconds are few blocks on most chains. */
const HEAD_MAX_AGE_MS = 10_000;
/** Suggested tips move slowly. */
const TIP_MAX_AGE_MS = 60_000;

/** A tip is paid as it is offered. One above 100 gwei and above ten times the base fee is no suggestion, but a fault. */
const MAX_TIP_WEI = 100_000_000_000n;
const MAX_TIMES_BASE = 10n;

/** The price of gas, asked for seldom. */
export interface FeeSource {
  /** @throws RpcAnswerError, RpcUnavailableError */
  market(): Promise<Market>;
  /** Takes in a head that was fetched for another reason. */
  observe(head: BlockHead): void;
  /** Forgets what was seen: it has proven too low. */
  expire(): void;
}

/** Keeps what gas costs; a head that is fetched anyway renews it for nothing, and what the caller knows is not asked for. */
export function createFeeSource({
  chain,
  view,
  monotonicNow: now,
}: {
  readonly chain: Chain;
  readonly view?: Pick<ChainView, 'market'> | undefined;
  readonly monotonicNow: () => number;
}): FeeSource {
  /** The caller's price has proven too low until then. */
  let untilMs = Number.NEGATIVE_INFINITY;
  let base: { readonly wei: bigint; readonly atMs: number } | undefined;
  let tip: { readonly wei: bigint; readonly atMs: number } | undefined;
  const isFresh = (seen: { atMs: number } | undefined, maxAgeMs: number) =>
    seen !== undefined && now() - seen.atMs < maxAgeMs;

  return {
    async market() {
      const known = view === undefined || now() < untilMs ? undefined : await view.market().catch(() => undefined);
      if (known !== undefined) return known;
      const [head, suggestedTip] = await Promise.all([
        isFresh(base, HEAD_MAX_AGE_MS) ? undefined : chain.head(),
        isFresh(tip, TIP_MAX_AGE_MS) ? undefined : chain.suggestedTip(),
      ]);
      if (head !== undefined) base = { wei: head.baseFeePerGas, atMs: now() };
      if (suggestedTip !== undefined) {
        if (suggestedTip > MAX_TIP_WEI && suggestedTip > MAX_TIMES_BASE * (base?.wei ?? 0n)) {
          throw new RpcUnavailableError('the suggested tip is nonsense');
        }
        tip = { wei: suggestedTip, atMs: now() };
      }
      return { baseFeePerGas: base?.wei ?? 0n, tip: tip?.wei ?? 0n };
    },
    observe(head) {
      base = { wei: head.baseFeePerGas, atMs: now() };
    },
    expire() {
      base = undefined;
      tip = undefined;
      untilMs = now() + TIP_MAX_AGE_MS;
    },
  };
}

/** A transaction's offer for a unit of gas, in wei. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The current price of gas, in wei. */
export interface Market {
  readonly baseFeePerGas: bigint;
  readonly tip: bigint;
}

function higher(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

function lower(amount: bigint, bound: bigint | undefined): bigint {
  if (bound === undefined || amount < bound) return amount;
  return bound;
}

/**
 * Offers what gets a transaction mined now, with room for a base fee that doubles: six full blocks (EIP-1559 raises it by at most an eighth
 * a block).
 *
 * @param ceiling - the most that may be offered, in wei
 * @returns the offer, or undefined if the ceiling is below what is needed in the next block
 */
export function offerFees(market: Market, ceiling: bigint | undefined): Fees | undefined {
  const needed = market.baseFeePerGas + market.tip;
  if (ceiling !== undefined && needed > ceiling) return undefined;
  const wanted = 2n * market.baseFeePerGas + market.tip;
  return { maxFeePerGas: lower(wanted, ceiling), maxPriorityFeePerGas: market.tip };
}

/** `amount` raised by a percentage, rounded up. */
export function raise(amount: bigint, percent: number): bigint {
  return (amount * BigInt(100 + percent) + 99n) / 100n;
}

/**
 * Offers more than before for the same nonce: both fees raised by at least what nodes ask of a replacement, or to the market.
 *
 * @param terms - the market, the percentage, and the ceiling in wei
 * @returns the offer, or undefined if it would be above the ceiling
 */
export function raiseFees(
  before: Fees,
  terms: { readonly market: Market; readonly percent: number; readonly ceiling: bigint | undefined },
): Fees | undefined {
  const { market, percent, ceiling } = terms;
  const least = raise(before.maxFeePerGas, percent);
  if (ceiling !== undefined && (least > ceiling || market.baseFeePerGas + market.tip > ceiling)) return undefined;
  const wanted = 2n * market.baseFeePerGas + market.tip;
  const maxFeePerGas = lower(higher(least, wanted), ceiling);
  const tip = higher(raise(before.maxPriorityFeePerGas, percent), market.tip);
  return { maxFeePerGas, maxPriorityFeePerGas: lower(tip, maxFeePerGas) };
}
