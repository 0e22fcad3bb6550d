import type { PageMaker } from '@prism-gateway/runtime';
import { describePayment } from '../cli/describePayments.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';

/** Most payments that are told one by one, of those the oldest. */
const MAX_LISTED = 100;

/**
 * Makes the page `/status`: how many payments are in which state, and those that are under way or wait for people.
 *
 * @param journal - of the running instance
 */
export function createStatusPage(journal: Pick<PaymentJournal, 'countStates' | 'fact' | 'list'>): PageMaker {
  return () => {
    const waiting = journal.list([...OPEN_STATES, 'given back', 'held', 'refused']).map(describePayment);
    const counts = Object.fromEntries(journal.countStates());
    const status = { owner: journal.fact('owner') ?? '', counts, payments: waiting.slice(0, MAX_LISTED) };
    return { contentType: 'application/json', body: `${JSON.stringify(status)}\n` };
  };
}
