import { setTimeout as pause } from 'node:timers/promises';
import type { Payment } from '../journal/payment.ts';
import type { PaymentState } from '../journal/paymentState.ts';
import { completePayment } from './completePayment.ts';
import { fundPayment } from './fundPayment.ts';
import { giveBack } from './giveBack.ts';
import { payOut, settlePayout } from './payOut.ts';
import { recoverVanished } from './recoverVanished.ts';
import type { RelayerContext } from './relayerContext.ts';
import { settleBuy } from './settleBuy.ts';

type Step = (context: RelayerContext, payment: Payment) => Promise<void>;

/** What is done in each state that asks for something. */
const STEPS: Partial<Record<PaymentState, Step>> = {
  claimed: fundPayment,
  buying: settleBuy,
  bought: payOut,
  transferring: settlePayout,
  transferred: completePayment,
  vanished: recoverVanished,
};

/** A payment in one of these has nothing on the chain that could still pay it. */
const RETURNABLE: readonly PaymentState[] = ['claimed', 'bought'];
/** Longest pause between tries of what may not be given up, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

/** Payments of which people know that they were given back, until a payout is journalled: each is claimed again and again. */
const toldBy = new WeakMap<RelayerContext, Set<string>>();

function toldOf(context: RelayerContext): Set<string> {
  const told = toldBy.get(context) ?? new Set<string>();
  toldBy.set(context, told);
  return told;
}

function explain(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown';
}

/** Counts a failure. @returns whether the payment was given back */
function takeFailure(context: RelayerContext, payment: Payment, tries: number, error: unknown): boolean {
  const { journal, alerter, log, config } = context;
  const { paymentIntentId } = payment;
  // The step may have moved it.
  const state = journal.get(paymentIntentId)?.state ?? payment.state;
  const reason = explain(error);
  log.warn({ paymentIntentId, state, tries, reason }, 'a step failed');
  const isReturned = tries > config.maxRetries && RETURNABLE.includes(state);
  if (isReturned) giveBack(context, paymentIntentId, { reason });
  if (tries !== config.maxRetries + 1) return isReturned;
  if (isReturned && toldOf(context).has(paymentIntentId)) return true;
  if (isReturned) toldOf(context).add(paymentIntentId);
  alerter.raise({
    code: isReturned ? 'PAYMENT_GIVEN_BACK' : 'PAYMENT_LATE',
    severity: 'warning',
    subject: isReturned
      ? `Payment ${paymentIntentId} was given back`
      : `Payment ${paymentIntentId} is late: it is ${state}`,
    text: isReturned
      ? `After ${tries} tries. ${reason} Once its claim has ended at the frontend, any instance tries again; this one tells no more of it until it gets further.`
      : `After ${tries} tries. ${reason} It is tried on and on; nothing is paid twice.`,
  });
  return isReturned;
}

/**
 * Takes a payment as far as it goes: completed, held or given back; or until the signal.
 *
 * @param context - the instance
 * @param paymentIntentId - in the journal
 */
export async function drivePayment(context: RelayerContext, paymentIntentId: string): Promise<void> {
  const { journal, signal, config } = context;
  let tries = 0;
  while (!signal.aborted) {
    const payment = journal.get(paymentIntentId);
    const step = payment === undefined ? undefined : STEPS[payment.state];
    if (payment === undefined || step === undefined) break;
    if (payment.state === 'transferring') toldOf(context).delete(paymentIntentId);
    try {
      await step(context, payment);
    } catch (error) {
      if (signal.aborted) return;
      tries++;
      if (takeFailure(context, payment, tries, error)) {
        tries = 0;
        continue;
      }
      const factor = 2 ** Math.max(0, Math.min(tries - config.maxRetries, 10));
      const pauseMs = Math.min(config.retryDelayMs * factor, Math.max(MAX_PAUSE_MS, config.retryDelayMs));
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  context.bought.delete(paymentIntentId);
}
