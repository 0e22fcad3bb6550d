import type { PaymentState } from '../journal/paymentState.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import type { Poller } from './createPoller.ts';
import { drivePayment } from './drivePayment.ts';
import { giveBack } from './giveBack.ts';
import type { RelayerContext } from './relayerContext.ts';
import { settleBuy } from './settleBuy.ts';

/** A claim that was made before the restart may have ended. */
const RETURNABLE: readonly PaymentState[] = ['claimed', 'bought'];

function giveBackIfUnpaid(context: RelayerContext, paymentIntentId: string): void {
  const state = context.journal.get(paymentIntentId)?.state;
  if (state !== undefined && RETURNABLE.includes(state)) giveBack(context, paymentIntentId, { reason: 'restarted' });
}

/** Waits for a buy that was under way; its credits are in hand then, for whoever needs them next. */
async function finishBuy(context: RelayerContext, paymentIntentId: string): Promise<void> {
  const payment = context.journal.get(paymentIntentId);
  if (payment === undefined) return;
  try {
    await settleBuy(context, payment);
  } finally {
    giveBackIfUnpaid(context, paymentIntentId);
  }
}

/**
 * Goes on with what the journal holds. A payment whose payout is not journalled is given back: its claim may have ended meanwhile,
 * and whoever claims it next uses the credits that are in hand.
 *
 * @param context - the instance
 * @param poller - follows what is under way
 */
export function resumePayments(context: RelayerContext, poller: Poller): void {
  for (const { paymentIntentId, state } of context.journal.list(OPEN_STATES)) {
    giveBackIfUnpaid(context, paymentIntentId);
    poller.resume(paymentIntentId, async () => {
      if (state === 'buying') await finishBuy(context, paymentIntentId);
      await drivePayment(context, paymentIntentId);
    });
  }
}
