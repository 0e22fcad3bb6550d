import { formatStablecoins } from '../amounts/formatAmount.ts';
import type { PayerContext } from '../flow/payerContext.ts';
import type { ListedPayment } from '../frontend/checkListing.ts';
import type { Payment } from '../journal/payment.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import { createPaymentLatch } from './createPaymentLatch.ts';

/** Watches how old payments become, whatever keeps them. */
export interface AgeWatch {
  /** Looks at what is open, and at what the frontend listed last. */
  look(listed: readonly ListedPayment[]): void;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** When people were last reminded of what waits for them, in milliseconds since the epoch. */
const REMINDED_FACT = 'reminded of what waits';
/** Payments that a reminder names. */
const MAX_NAMED = 50;

/** Reminds people once a day of what is held or refused. */
function remind({ journal, alerter, now }: PayerContext): void {
  const waiting = journal.list(['held', 'refused']);
  if (waiting.length === 0) {
    journal.clearFact(REMINDED_FACT);
    return;
  }
  const remindedAtMs = Number(journal.fact(REMINDED_FACT) ?? `${now()}`);
  if (journal.fact(REMINDED_FACT) === undefined) journal.setFact(REMINDED_FACT, `${now()}`);
  if (Math.abs(now() - remindedAtMs) < DAY_MS) return;
  const lines = waiting
    .slice(0, MAX_NAMED)
    .map(({ paymentIntentId, state, reason }) => `- ${paymentIntentId} is ${state}: ${reason ?? 'no reason given'}`);
  const rest = waiting.length - lines.length;
  if (rest > 0) lines.push(`- and ${rest} more: prism payments status`);
  journal.commit(() => {
    journal.setFact(REMINDED_FACT, `${now()}`);
    alerter.raise({
      code: 'PAYMENTS_WAIT_FOR_A_PERSON',
      severity: 'warning',
      subject: `${waiting.length} payments wait for a person`,
      text: `${lines.join('\n')}\nLook at each: prism payments show INTENT.`,
    });
  });
}

/** Creates the watch: one alert covers every silent case, the oldest open or listed payment being too old for whatever reason. */
export function createAgeWatch(context: PayerContext): AgeWatch {
  const { journal, config, now, monotonicNow } = context;
  /** Since when this process knows of each, on the monotonic clock: whatever people set the other to. */
  let knownSinceMs = new Map<string, number>();
  const late = createPaymentLatch(context, {
    code: 'PAYMENTS_LATE',
    subject: 'Payments are late',
    over: 'No payment is late any more',
  });
  return {
    look(listed) {
      const open = journal.list(OPEN_STATES);
      const known = listed.flatMap(({ paymentIntentId }) => journal.get(paymentIntentId) ?? []);
      const waiting = [...open, ...known.filter(({ state }) => state === 'seen' || state === 'given back')];
      knownSinceMs = new Map(
        waiting.map(({ paymentIntentId: id }) => [id, knownSinceMs.get(id) ?? monotonicNow()] as const),
      );
      const ageOf = ({ paymentIntentId: id, seenAtMs }: Payment) =>
        Math.max(now() - seenAtMs, monotonicNow() - (knownSinceMs.get(id) ?? monotonicNow()));
      const old = waiting.filter((payment) => ageOf(payment) > config.lateAfterMs);
      const oldest = old.toSorted((one, other) => one.seenAtMs - other.seenAtMs)[0];
      remind(context);
      if (oldest === undefined) {
        late.clear();
        return;
      }
      const sum = old.reduce((all, { stablecoinAmount }) => all + stablecoinAmount, 0n);
      const minutes = Math.floor(ageOf(oldest) / MINUTE_MS);
      late.raise(
        `${old.length} payments of ${formatStablecoins(sum)} in all; the oldest, ${oldest.paymentIntentId}, is ${oldest.state} and ${minutes} minutes old.`,
      );
    },
  };
}
