import type { ChainCall } from '../chain/marks.ts';
import type { AttemptKind, Payment } from '../journal/payment.ts';
import type { RelayerContext } from './relayerContext.ts';

/**
 * Names the next call of a payment at the sender. Where the journal of payments was lost and the sender's was not, names that the sender has
 * for other calls are passed over: under one of these, it would refuse this call for ever.
 *
 * @param context - journal and sender
 * @param params - the payment and its call
 * @returns the intent's id
 */
export function nameAttempt(
  { journal, sender }: Pick<RelayerContext, 'journal' | 'sender'>,
  params: { readonly payment: Payment; readonly kind: AttemptKind; readonly call: ChainCall },
): string {
  const { payment, kind, call } = params;
  for (let count = payment.attempts + 1; ; count++) {
    const intentId = `${kind}:${count}:${payment.paymentIntentId}`;
    const known = sender.get(intentId)?.call;
    const isFree = known === undefined || (known.to === call.to && known.data === call.data);
    if (isFree && !journal.hasAttempt(intentId)) return intentId;
  }
}
