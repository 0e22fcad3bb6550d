import type { Hash } from 'viem';
import { markAnnouncement } from '../chain/marks.ts';
import type { Payment } from '../journal/payment.ts';
import type { RelayerContext } from './relayerContext.ts';

/** A rival needs the wait of a takeover and the time of a payout; twice the wait is enough for both. */
const LEAST_WAITS = 2;

/** When an announcement by a rival was first seen, in milliseconds since the epoch. */
const seenBy = new WeakMap<RelayerContext, Map<Hash, number>>();

/**
 * Leaves a payment to another instance that has announced it of late: whoever announces over it takes the payment from it, and two that
 * keep doing so to each other never pay. Each instance waits for another time, so that only one takes over.
 *
 * @param context - the instance
 * @param payment - `claimed`, the chain just searched
 * @returns whether it was given back
 */
export function yieldToRival(context: RelayerContext, payment: Payment): boolean {
  const { self, others, takeoverWaitMs } = context.config;
  if (others.length === 0) return false;
  const { paymentIntentId } = payment;
  const last = context.journal.marks.find(markAnnouncement(paymentIntentId)).at(-1);
  if (last === undefined || last.sender.toLowerCase() === self.toLowerCase()) return false;
  const seen = seenBy.get(context) ?? new Map<Hash, number>();
  seenBy.set(context, seen);
  const sinceMs = seen.get(last.txHash) ?? context.now();
  seen.set(last.txHash, sinceMs);
  const rank = [self, ...others]
    .map((address) => address.toLowerCase())
    .toSorted()
    .indexOf(self.toLowerCase());
  if (context.now() - sinceMs >= (LEAST_WAITS + rank) * takeoverWaitMs) {
    seen.delete(last.txHash);
    return false;
  }
  const reason = 'another instance has announced it of late';
  context.journal.move(paymentIntentId, 'given back', { reason, countedDay: null });
  return true;
}
