import { FINAL_STATES, INTENT_STATES, type Intent, type Sender } from '@prism-gateway/sender';
import { type Address, isAddressEqual } from 'viem';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { readMark } from './marks.ts';

/** Payouts that the sender is still at, and that the journal of payments does not know: it was lost, and the sender's was not. */
export interface UnknownPayouts {
  /** Intents without an outcome, oldest first. */
  list(): readonly Intent[];
}

/**
 * Finds the unknown payouts of the start; none can join them, for this process journals each payout before the sender hears of it.
 *
 * @param parts - the sender, the journal, and where payouts go
 * @returns those that are live, looked at anew at each call
 */
export function createUnknownPayouts(parts: {
  readonly sender: Sender;
  readonly journal: PaymentJournal;
  readonly creditToken: Address;
}): UnknownPayouts {
  const { sender, journal, creditToken } = parts;
  const isLive = (intentId: string) => {
    const intent = sender.get(intentId);
    return intent !== undefined && !FINAL_STATES.includes(intent.state);
  };
  let live: readonly Intent[] = sender
    .list({ states: INTENT_STATES.filter((state) => !FINAL_STATES.includes(state)) })
    .filter(
      ({ intentId, call }) =>
        isAddressEqual(call.to, creditToken) && readMark(call.data) !== undefined && !journal.hasAttempt(intentId),
    );
  return {
    list() {
      live = live.filter(({ intentId }) => isLive(intentId));
      return live;
    },
  };
}
