import type { MoveChanges } from '../journal/openPaymentJournal.ts';
import type { RelayerContext } from './relayerContext.ts';

/**
 * Leaves a payment to whoever claims it next. One that was paid already, and whose payout has vanished, the frontend lists no more: it
 * goes on being looked after here.
 *
 * @param context - the instance
 * @param paymentIntentId - nothing of this instance on the chain can still pay it
 * @param changes - why, and how its attempt ended
 */
export function giveBack(
  context: RelayerContext,
  paymentIntentId: string,
  changes: Pick<MoveChanges, 'settled'> & { readonly reason: string },
): void {
  const { journal, memory } = context;
  memory.bought.delete(paymentIntentId);
  if (journal.get(paymentIntentId)?.txHash !== undefined) journal.move(paymentIntentId, 'vanished', changes);
  else journal.move(paymentIntentId, 'given back', { ...changes, countedDay: null });
}
