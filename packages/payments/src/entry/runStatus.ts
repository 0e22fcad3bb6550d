import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { releasedFact } from '../flow/recoverVanished.ts';
import { refusedFact } from '../flow/refusePayment.ts';
import { openPaymentJournal, type PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Settings } from '../settings/settings.ts';
import { formatStatus } from './formatStatus.ts';

function withJournal(settings: Settings, act: (journal: PaymentJournal) => number): number {
  const file = join(settings.DATA_DIR, 'payments.db');
  if (!existsSync(file)) {
    console.error('There is no journal in DATA_DIR yet.');
    return 1;
  }
  const journal = openPaymentJournal({ file, now: Date.now });
  try {
    return act(journal);
  } finally {
    journal.close();
  }
}

/**
 * Prints what the journal says is under way; the relayer may be at work meanwhile.
 *
 * @param settings - where the journal is
 * @returns the process's exit code
 */
export function runStatus(settings: Settings): number {
  return withJournal(settings, (journal) => {
    console.log(formatStatus(journal));
    return 0;
  });
}

/**
 * Lets a payment that is held or refused be tried again, on a person's word that it was not paid.
 *
 * @param settings - where the journal is
 * @param paymentIntentId - the payment
 * @returns the process's exit code
 */
export function runRelease(settings: Settings, paymentIntentId: string): number {
  return withJournal(settings, (journal) => {
    const { state, txHash } = journal.get(paymentIntentId) ?? {};
    const isRefused = journal.fact(refusedFact(paymentIntentId)) !== undefined;
    if (state === 'held' && txHash !== undefined) {
      // It was paid once: the frontend lists it no more.
      journal.setFact(releasedFact(paymentIntentId), 'by a person');
      journal.move(paymentIntentId, 'vanished', { reason: 'released by a person' });
      console.log(`Payment ${paymentIntentId} is tried again, should its payout not be on the chain.`);
      return 0;
    }
    if (state === 'held') {
      const open = journal.attemptsOf(paymentIntentId).find((attempt) => attempt.state === 'open');
      const settled = open === undefined ? {} : { settled: { intentId: open.intentId, state: 'void' as const } };
      journal.move(paymentIntentId, 'given back', { reason: 'released by a person', countedDay: null, ...settled });
    } else if (isRefused || state === 'refused') {
      journal.clearFact(refusedFact(paymentIntentId));
      if (state === 'refused') journal.move(paymentIntentId, 'seen', { reason: 'released by a person' });
    } else {
      console.error(`Payment ${paymentIntentId} is neither held nor refused: it is ${state ?? 'unknown'}.`);
      return 1;
    }
    console.log(`Payment ${paymentIntentId} is tried again once the frontend lists it.`);
    return 0;
  });
}
