import type { Hash } from 'viem';
import { markAnnouncement } from '../chain/marks.ts';
import type { Payment } from '../journal/payment.ts';
import { giveBack } from './giveBack.ts';
import { patienceMs } from './patienceMs.ts';
import type { RelayerContext } from './relayerContext.ts';

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
  const { self, others } = context.config;
  if (others.length === 0) return false;
  const { paymentIntentId } = payment;
  const last = context.journal.marks.find(markAnnouncement(paymentIntentId)).at(-1);
  if (last === undefined || last.sender.toLowerCase() === self.toLowerCase()) return false;
  const seen = seenBy.get(context) ?? new Map<Hash, number>();
  seenBy.set(context, seen);
  const sinceMs = seen.get(last.txHash) ?? context.now();
  seen.set(last.txHash, sinceMs);
  if (context.now() - sinceMs >= patienceMs(context.config)) {
    seen.delete(last.txHash);
    return false;
  }
  giveBack(context, paymentIntentId, { reason: 'another instance has announced it of late' });
  return true;
}
