import { setTimeout as pause } from 'node:timers/promises';
import type { Alert } from '@prism-gateway/node/alerts';
import { alertPayment } from '../alerts/alertPayment.ts';
import { explainError } from '../explainError.ts';
import type { Payment } from '../journal/payment.ts';
import { OPEN_STATES, type PaymentState } from '../journal/paymentState.ts';
import { finalizeBuy, fundPayment } from './buyCredits.ts';
import { claimFact, giveBack, releaseClaim } from './giveBack.ts';
import type { PayerContext } from './payerContext.ts';
import { finalizePayout, payOut } from './payOut.ts';
import { recoverVanished } from './recoverVanished.ts';

type Step = (context: PayerContext, payment: Payment) => Promise<void>;

/** The step of each state that asks for one. */
const STEPS: Partial<Record<PaymentState, Step>> = {
  claimed: fundPayment,
  buying: finalizeBuy,
  bought: payOut,
  transferring: finalizePayout,
  transferred: completePayment,
  vanished: recoverVanished,
};

/** A payment in one of these has nothing on the chain that could still pay it. */
const RETURNABLE: readonly PaymentState[] = ['claimed', 'bought'];
/** Longest pause between tries of what may not be given up, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

/** A step that failed again and again. */
interface Failure {
  readonly paymentIntentId: string;
  readonly tries: number;
  readonly reason: string;
  readonly state: PaymentState;
}

function writeReturned({ paymentIntentId, tries, reason }: Failure): Alert {
  return {
    code: 'PAYMENT_GIVEN_BACK',
    severity: 'warning',
    subject: `Payment ${paymentIntentId} was given back`,
    text: `After ${tries} tries. ${reason} Once its claim has ended at the frontend, any instance tries again; this is alerted once, until it is over.`,
  };
}

function writeLate({ paymentIntentId, tries, reason, state }: Failure): Alert {
  return {
    code: 'PAYMENT_LATE',
    severity: 'warning',
    subject: `Payment ${paymentIntentId} is late: it is ${state}`,
    text: `After ${tries} tries. ${reason} It is tried on and on; nothing is paid twice.`,
  };
}

/** Counts a failure. @returns whether the payment was given back */
function takeFailure(context: PayerContext, payment: Payment, tries: number, error: unknown): boolean {
  const { journal, log, config } = context;
  const { paymentIntentId } = payment;
  // The step may have moved it.
  const state = journal.get(paymentIntentId)?.state ?? payment.state;
  const reason = explainError(error);
  log.warn({ paymentIntentId, state, tries, reason }, 'a step failed');
  const isReturned = tries > config.maxRetries && RETURNABLE.includes(state);
  journal.commit(() => {
    if (isReturned) giveBack(context, paymentIntentId, { reason });
    if (tries !== config.maxRetries + 1) return;
    const alert = (isReturned ? writeReturned : writeLate)({ paymentIntentId, tries, reason, state });
    alertPayment(context, { paymentIntentId, alert });
  });
  return isReturned;
}

/**
 * Takes a payment as far as it goes: completed, held or given back; or until the signal.
 *
 * @param onPaid - called before the frontend is notified of the payout
 */
export async function drivePayment(context: PayerContext, paymentIntentId: string, onPaid: () => void): Promise<void> {
  const { journal, signal, config } = context;
  let tries = 0;
  while (!signal.aborted) {
    const payment = journal.get(paymentIntentId);
    const step = payment === undefined ? undefined : STEPS[payment.state];
    if (payment === undefined || step === undefined) break;
    if (payment.state === 'transferred') onPaid();
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
  context.memory.bought.delete(paymentIntentId);
  await releaseClaim(context, paymentIntentId);
}

function giveBackIfUnpaid(context: PayerContext, paymentIntentId: string): void {
  const state = context.journal.get(paymentIntentId)?.state;
  if (state !== undefined && RETURNABLE.includes(state)) giveBack(context, paymentIntentId, { reason: 'restarted' });
}

/** Waits for a buy that was under way; its credits are in hand then, for whoever needs them next. */
async function finishBuy(context: PayerContext, paymentIntentId: string): Promise<void> {
  const payment = context.journal.get(paymentIntentId);
  if (payment === undefined) return;
  try {
    await finalizeBuy(context, payment);
  } finally {
    giveBackIfUnpaid(context, paymentIntentId);
  }
}

/**
 * Goes on with what the journal holds. A payment whose payout is not journalled is given back: its claim may have ended meanwhile,
 * and whoever claims it next uses the credits that are in hand.
 *
 * @param follow - looks after what is under way
 */
export function resumePayments(
  context: PayerContext,
  follow: (paymentIntentId: string, drive: (onPaid: () => void) => Promise<void>) => void,
): void {
  for (const { paymentIntentId, state } of context.journal.list(OPEN_STATES)) {
    giveBackIfUnpaid(context, paymentIntentId);
    follow(paymentIntentId, async (onPaid) => {
      if (state === 'buying') await finishBuy(context, paymentIntentId);
      await drivePayment(context, paymentIntentId, onPaid);
    });
  }
}

/** Whether the frontend may have been notified of a payout that is gone: by a reorganisation, after which its bytes may have been mined in vain. */
function wasUndone({ journal }: PayerContext, paymentIntentId: string): boolean {
  const isReverted = journal
    .attemptsOf(paymentIntentId)
    .some(({ kind, state, txHash }) => kind === 'payout' && state === 'void' && txHash !== undefined);
  return isReverted || journal.movesOf(paymentIntentId).some(({ to }) => to === 'vanished');
}

/**
 * Reports to the frontend which transaction paid a payment.
 *
 * @throws FrontendError if the frontend does not take it now
 * @see docs/specification.md FRONT-3
 */
async function completePayment(context: PayerContext, payment: Payment): Promise<void> {
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
  if (wasUndone(context, paymentIntentId)) {
    journal.commit(() => {
      journal.move(paymentIntentId, 'completed');
      alerter.raise({
        code: 'COMPLETED_BY_ANOTHER_TRANSACTION',
        severity: 'warning',
        subject: `Payment ${paymentIntentId} was paid by another transaction than the frontend says`,
        text: `The payout that the frontend was notified of is not on the chain any more, or was none. ${txHash} paid it, once; put that in the frontend's record.`,
      });
    });
    return;
  }
  const reason = `Paid by ${txHash}, but the frontend has another transaction for it.`;
  journal.commit(() => {
    journal.move(paymentIntentId, 'held', { reason });
    alertPayment(context, {
      paymentIntentId,
      alert: {
        code: 'COMPLETION_CONFLICT',
        severity: 'critical',
        subject: `Payment ${paymentIntentId} is held: the frontend has another transaction for it`,
        text: `${reason} Compare the frontend's transaction with this one; nothing more is paid for it.`,
      },
    });
  });
}
