import type { DatabaseSync } from 'node:sqlite';
import type { Payment } from './payment.ts';
import { readPayment } from './rows.ts';

/** Payments that people were told of, and not yet that they are over. */
export interface ToldTable {
  add(paymentIntentId: string): void;
  forget(paymentIntentId: string): void;
  /** Those that are over, or that are not begun and the frontend lists no more. */
  listEnded(): readonly Payment[];
}

/** The facts that name them begin so; no other fact's name is between this and `END`. */
const PREFIX = 'told:';
const END = 'told;';

/**
 * Keeps what people were told of among the journal's facts.
 *
 * @param database - with the journal's tables
 * @param now - the clock, in milliseconds since the epoch
 * @returns the table
 */
export function createToldTable(database: DatabaseSync, now: () => number): ToldTable {
  const add = database.prepare('INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO NOTHING');
  const forget = database.prepare('DELETE FROM facts WHERE name = ?');
  const ended = database.prepare(
    `SELECT payments.* FROM facts CROSS JOIN payments ON payment_intent_id = substr(name, ${PREFIX.length + 1})
     WHERE name > ? AND name < ? AND (state IN ('completed', 'closed') OR (state IN ('seen', 'given back')
     AND EXISTS (SELECT 1 FROM facts WHERE name = 'unlisted:' || payment_intent_id))) ORDER BY payments.rowid`,
  );
  return {
    add: (paymentIntentId) => void add.run(`${PREFIX}${paymentIntentId}`, `${now()}`),
    forget: (paymentIntentId) => void forget.run(`${PREFIX}${paymentIntentId}`),
    listEnded: () => ended.all(PREFIX, END).map(readPayment),
  };
}
