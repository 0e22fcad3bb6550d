import type { SenderAccount } from '@prism-gateway/sender';
import type { Hex, PublicClient } from 'viem';
import type { BroadcastTable } from '../journal/createBroadcastTable.ts';
import type { FenceVerdict } from './judgePayout.ts';
import { signCancellation } from './signCancellation.ts';

/** A payout that may not go out. */
export interface RefusedPayout {
  readonly raw: Hex;
  readonly nonce: number;
  readonly verdict: Exclude<FenceVerdict, 'yes'>;
}

/** Frees account nonces of payouts that may not go out; nothing above them could ever be mined. */
export interface Replacements {
  /** What takes the nonce of a payout already; undefined: nothing does. */
  taken(nonce: number): Hex | undefined;
  /** Whether a payout is refused so often, or for so long, that the sender has no way of its own. */
  isDue(refused: RefusedPayout): boolean;
  /**
   * Signs what takes the nonce of a payout.
   *
   * @throws viem's errors
   */
  make(payout: Pick<RefusedPayout, 'raw' | 'nonce'>): Promise<Hex>;
}

/** What the replacements are made of. */
export interface ReplacementOptions {
  readonly client: PublicClient;
  readonly account: SenderAccount;
  readonly broadcasts: BroadcastTable;
  readonly isPayout: (raw: Hex) => boolean;
  /** How long an announcement must stand, in milliseconds. */
  readonly standMs: number;
  /** Milliseconds, of a clock that never goes back. */
  readonly monotonicNow: () => number;
}

/** The sender signs a transfer of nothing once it has been told `never`, unless gas is far from what it had offered. */
const MAX_REFUSALS = 3;
/** An announcement that has not come back for so many times the wait of a takeover does not come back. */
const MAX_STANDS = 4;

/**
 * Makes transactions that take the place of payouts which may not go out.
 *
 * @param options - key, chain and what was broadcast
 * @returns the replacements
 */
export function createReplacements(options: ReplacementOptions): Replacements {
  const { broadcasts, account, monotonicNow } = options;
  const refusals = new Map<Hex, { readonly times: number; readonly sinceMs: number }>();

  function isDue({ raw, verdict }: RefusedPayout): boolean {
    const { times, sinceMs } = refusals.get(raw) ?? { times: 0, sinceMs: monotonicNow() };
    refusals.set(raw, { times: times + 1, sinceMs });
    if (verdict === 'never') return times >= MAX_REFUSALS;
    return monotonicNow() - sinceMs >= MAX_STANDS * options.standMs;
  }

  function taken(nonce: number): Hex | undefined {
    const newest = broadcasts.newestOn(nonce);
    return newest === undefined || options.isPayout(newest) ? undefined : newest;
  }

  return {
    taken,
    isDue,
    async make({ raw, nonce }) {
      const gasPrice = await options.client.getGasPrice();
      const cancellation = await signCancellation(account, { raw, gasPrice });
      refusals.delete(raw);
      broadcasts.add({ nonce, raw: cancellation });
      return cancellation;
    },
  };
}
