import { isJournalFault } from '@prism-gateway/node/alerts';
import type { Journal } from '../journal/openJournal.ts';
import { type Listener, listenBy } from './events.ts';
import type { Log } from './logEvents.ts';

/** Writes down what people are to find in the journal. */
export function recordEvents(ports: {
  readonly journal: Journal;
  readonly log: Log;
  readonly now: () => number;
}): Listener {
  const { journal, log, now } = ports;
  return listenBy({
    'budget-exceeded': ({ type: _, ...exceeded }) => journal.recordExceeded(exceeded),
    'transaction-mined': ({ sent: { gasUsed, effectiveGasPrice, dataFee }, earnedCredits }) =>
      journal.addTotals({ spentWei: gasUsed * effectiveGasPrice + dataFee, earnedCredits, transactions: 1n }),
    'cancel-paid': ({ wei }) => journal.addTotals({ spentWei: wei, earnedCredits: 0n, transactions: 1n }),
    'key-used-elsewhere'({ nonce, transactions, txHash }) {
      try {
        journal.recordForeign({ nonce: nonce + transactions - 1, transactions, txHash, atMs: now() });
      } catch (error) {
        // The sender goes on whatever becomes of the note.
        if (!isJournalFault(error)) throw error;
        log.warn({ reason: error.message }, 'the journal cannot be written');
      }
    },
  });
}
