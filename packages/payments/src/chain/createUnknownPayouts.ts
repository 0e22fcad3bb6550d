import { FINAL_STATES, INTENT_STATES, type Sender } from '@prism-gateway/sender';
import type { Address, Hex } from 'viem';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { describeTransaction } from './describeTransaction.ts';

/** A payout of the sender's alone. */
export interface UnknownPayout {
  readonly intentId: string;
  readonly mark: Hex;
}

/** Payouts that the sender is still at, and that the journal of payments does not know: it was lost, and the sender's was not. */
export interface UnknownPayouts {
  /** Those without an outcome, oldest first. */
  list(): readonly UnknownPayout[];
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
  let live: readonly UnknownPayout[] = sender
    .list({ states: INTENT_STATES.filter((state) => !FINAL_STATES.includes(state)) })
    .filter(({ intentId }) => !journal.hasAttempt(intentId))
    .flatMap(({ intentId, call }) => {
      const told = { hash: '0x', from: sender.address, to: call.to, input: call.data } as const;
      const { kind, mark } = describeTransaction(told, creditToken);
      return kind === 'payout' && mark !== undefined ? [{ intentId, mark }] : [];
    });
  return {
    list() {
      live = live.filter(({ intentId }) => isLive(intentId));
      return live;
    },
  };
}
