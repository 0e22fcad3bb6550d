/** How deliveries are tried again: the same in all stores. @see docs/specification.md WEBHOOK-6 */
import type { DeliveryOutcome, WebhookNotice } from '../ports/webhookStore.ts';

/** How long a delivery is tried again, and a webhook of which nothing comes through: then it is given up, and disabled. */
const GIVE_UP_MS = 86_400_000;
/** Fewest failures of a webhook and of a delivery by then: a day in which the gateway was stopped, or its clock was set, gives nobody up. */
const [LEAST_FAILS, LEAST_ATTEMPTS] = [100, 20];
/** Pause after a first failure, in milliseconds; it doubles up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_WEBHOOK_PAUSE_MS = 60_000;
export const LONGEST_DELIVERY_PAUSE_MS = 600_000;
/** Failures in a row after which the receiver counts as down: once it is back, all is tried at once. */
const DOWN_FAILS = 4;
/** "Gone": the receiver wants no more. */
const GONE = 410;

/** Most deliveries that wait for one receiver: some 20 MB. Events beyond are dropped, and counted. */
export const MAX_WAITING = 20_000;
/** Strangers make requests: what they post leaves room for what became of them. */
export const MAX_WAITING_POSTS = MAX_WAITING / 2;

/** How a receiver does: failures in a row, since when, and until when it is left alone. Times in milliseconds since the epoch. */
export interface ReceiverState {
  readonly fails: number;
  readonly failingSince?: number | undefined;
  readonly pausedUntil: number;
}

/** The consequences of a refused attempt. */
export interface Evaluation {
  readonly state: ReceiverState;
  /** Why the webhook is disabled from now on; absent: it is not. */
  readonly disabledReason?: string;
  readonly notices: readonly Omit<WebhookNotice, 'webhookId'>[];
}

const pauseAfter = (failures: number, longest: number) =>
  Math.min(longest, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 30));

/** When a delivery is tried again. @param attempts - how many have failed */
export const nextAttemptAt = (attempts: number, now: number): number =>
  now + pauseAfter(attempts, LONGEST_DELIVERY_PAUSE_MS);

/**
 * When something is due. A time that is further ahead than any pause was written by a clock that was ahead: that is due now.
 */
export const boundDue = (at: number, now: number): number => (at > now + LONGEST_DELIVERY_PAUSE_MS ? now : at);

/** A delivery that was refused once more. */
interface FailedDelivery {
  readonly firstFailedAt: number | undefined;
  /** Those that failed, this one included. */
  readonly attempts: number;
  /** Since when nothing comes through to its receiver; undefined: something did before this. */
  readonly failingSince: number | undefined;
}

/** Whether a delivery has had its day, in which others came through: a receiver that takes nothing is disabled as a whole. */
export const isGivenUp = ({ firstFailedAt, attempts, failingSince }: FailedDelivery, now: number): boolean =>
  firstFailedAt !== undefined &&
  now - firstFailedAt >= GIVE_UP_MS &&
  attempts >= LEAST_ATTEMPTS &&
  (failingSince === undefined || failingSince > firstFailedAt);

/** Whether a receiver was down before it answered well: what waits need not wait any longer. */
export const wasDown = ({ fails }: Pick<ReceiverState, 'fails'>): boolean => fails >= DOWN_FAILS;

function whyDisabled({ status, error = '' }: DeliveryOutcome, fails: number, failedMs: number): string | undefined {
  if (status === GONE) return 'The receiver answered 410 Gone.';
  return failedMs >= GIVE_UP_MS && fails >= LEAST_FAILS ? `Nothing came through for a day: ${error}` : undefined;
}

/** Evaluates a receiver by a refusal. @returns undefined: it is one failure with an earlier one, for they were under way together */
export function evaluateRefusal(state: ReceiverState, outcome: DeliveryOutcome, now: number): Evaluation | undefined {
  if (now < boundDue(state.pausedUntil, now)) return undefined;
  const fails = state.fails + 1;
  const failingSince = Math.min(state.failingSince ?? now, now);
  const next = { fails, failingSince, pausedUntil: now + pauseAfter(fails, LONGEST_WEBHOOK_PAUSE_MS) };
  const why = whyDisabled(outcome, fails, now - failingSince);
  if (why !== undefined) return { state: next, disabledReason: why, notices: [{ kind: 'disabled', why }] };
  return { state: next, notices: fails === DOWN_FAILS ? [{ kind: 'failing', why: outcome.error ?? '' }] : [] };
}
