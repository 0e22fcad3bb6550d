import type { DatabaseSync } from 'node:sqlite';
import type { Payment } from './payment.ts';
import { readPayment } from './rows.ts';

/** Payments that people were alerted to, and not yet that they are over. */
export interface AlertedTable {
  /** Records that people are alerted to a payment. @returns whether they had not been alerted with this code */
  add(paymentIntentId: string, code: string): boolean;
  /** A person has acted: the same is news again. */
  renew(paymentIntentId: string): void;
  forget(paymentIntentId: string): void;
  /** Those that are over, or that are not begun and the frontend lists no more. */
  listEnded(): readonly Payment[];
}

/** The facts that name them begin so; no other fact's name is between this and `END`. Each holds the codes that were alerted. */
const PREFIX = 'alerted:';
const END = 'alerted;';

/** Keeps what people were alerted to among the journal's facts. */
export function createAlertedTable(database: DatabaseSync): AlertedTable {
  const read = database.prepare('SELECT value FROM facts WHERE name = ?');
  const set = database.prepare(
    'INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const forget = database.prepare('DELETE FROM facts WHERE name = ?');
  const ended = database.prepare(
    `SELECT payments.* FROM facts CROSS JOIN payments ON payment_intent_id = substr(name, ${PREFIX.length + 1})
     WHERE name > ? AND name < ? AND (state IN ('completed', 'closed') OR (state IN ('seen', 'given back')
     AND EXISTS (SELECT 1 FROM facts WHERE name = 'unlisted:' || payment_intent_id))) ORDER BY payments.rowid`,
  );
  const codesOf = (name: string) => `${read.get(name)?.value ?? ''}`.split(' ').filter((code) => code !== '');
  return {
    add(paymentIntentId, code) {
      const name = `${PREFIX}${paymentIntentId}`;
      const codes = codesOf(name);
      if (codes.includes(code)) return false;
      set.run(name, [...codes, code].join(' '));
      return true;
    },
    renew(paymentIntentId) {
      const name = `${PREFIX}${paymentIntentId}`;
      if (read.get(name) !== undefined) set.run(name, '');
    },
    forget: (paymentIntentId) => void forget.run(`${PREFIX}${paymentIntentId}`),
    listEnded: () => ended.all(PREFIX, END).map(readPayment),
  };
}
