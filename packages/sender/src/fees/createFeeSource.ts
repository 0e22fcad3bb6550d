import { RpcUnavailableError } from '@prism-gateway/rpc';
import type { BlockHead, Chain } from '../chain/createChain.ts';
import type { Market } from './feePolicy.ts';

/** The base fee may double before an offer is too low, which takes six full blocks; ten seconds are few blocks on most chains. */
const HEAD_MAX_AGE_MS = 10_000;
/** Suggested tips move slowly. */
const TIP_MAX_AGE_MS = 60_000;

/** A tip is paid as it is offered. One above 100 gwei and above ten times the base fee is no suggestion, but a fault. */
const MAX_TIP_WEI = 100_000_000_000n;
const MAX_TIMES_BASE = 10n;

/** What gas costs, asked for seldom. */
export interface FeeSource {
  /** @throws RpcAnswerError, RpcUnavailableError */
  market(): Promise<Market>;
  /** Takes in a head that was fetched for another reason. */
  observe(head: BlockHead): void;
  /** Forgets what was seen: it has proven too low. */
  expire(): void;
}

/**
 * Keeps what gas costs; a head that is fetched anyway renews it for nothing.
 *
 * @param context - the node and the clock
 * @returns the source
 */
export function createFeeSource({
  chain,
  monotonicNow: now,
}: {
  readonly chain: Chain;
  readonly monotonicNow: () => number;
}): FeeSource {
  let base: { readonly wei: bigint; readonly atMs: number } | undefined;
  let tip: { readonly wei: bigint; readonly atMs: number } | undefined;
  const isFresh = (seen: { atMs: number } | undefined, maxAgeMs: number) =>
    seen !== undefined && now() - seen.atMs < maxAgeMs;

  return {
    async market() {
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
    },
  };
}
