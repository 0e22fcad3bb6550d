import { tellPayment } from '../alerts/tellPayment.ts';
import type { Payment } from '../journal/payment.ts';
import { claimFact } from './giveBack.ts';
import type { RelayerContext } from './relayerContext.ts';

function wasVanished({ journal }: RelayerContext, paymentIntentId: string): boolean {
  return journal.movesOf(paymentIntentId).some(({ to }) => to === 'vanished');
}

/**
 * Tells the frontend which transaction paid a payment.
 *
 * @param context - the instance
 * @param payment - `transferred`
 * @throws FrontendError where the frontend does not take it now
 * @see docs/specification.md FRONT-3
 */
export async function completePayment(context: RelayerContext, payment: Payment): Promise<void> {
  const { journal, frontend, alerter, log, signal } = context;
  const { paymentIntentId, txHash } = payment;
  if (txHash === undefined) throw new TypeError(`payment ${paymentIntentId} was paid by no transaction`);
  const answer = await frontend.complete({ paymentIntentId, txHash }, signal);
  if (answer === 'completed') {
    journal.move(paymentIntentId, 'completed');
    journal.clearFact(claimFact(paymentIntentId));
    log.info({ paymentIntentId, txHash }, 'completed');
    return;
  }
  if (answer === 'conflict' && wasVanished(context, paymentIntentId)) {
    journal.commit(() => {
      journal.move(paymentIntentId, 'completed');
      alerter.raise({
        code: 'COMPLETED_BY_ANOTHER_TRANSACTION',
        severity: 'warning',
        subject: `Payment ${paymentIntentId} was paid by another transaction than the frontend says`,
        text: `The payout that the frontend was told is not on the chain any more, or was none. ${txHash} paid it, once; put that in the frontend's record.`,
      });
    });
    return;
  }
  const seen = answer === 'conflict' ? 'has another transaction for it' : 'does not know it';
  const reason = `Paid by ${txHash}, but the frontend ${seen}.`;
  journal.commit(() => {
    journal.move(paymentIntentId, 'held', { reason });
    tellPayment(context, {
      paymentIntentId,
      alert: {
        code: 'COMPLETION_CONFLICT',
        severity: 'critical',
        subject: `Payment ${paymentIntentId} is held: the frontend ${seen}`,
        text: `${reason} Compare the frontend's transaction with this one; nothing more is paid for it.`,
      },
    });
  });
}
