import type { DatabaseSync } from 'node:sqlite';
import type { MessageFacts } from '../../rules/webhookMessage.ts';
import { writeOutbox } from '../sql/outbox.ts';
import type { Row } from '../sql/sqlWrite.ts';
import { createStatements } from './createSnapshot.ts';
import type { QuotedTables } from './tables.ts';

/** Writes what moves report to webhooks, in the transactions of the moves. */
export interface Outbox {
  /** Keeps an event for each webhook that wants it. */
  happen(facts: () => MessageFacts): void;
  /** Forgets which webhooks there are: another write may change them. */
  forget(): void;
}

/** Prepares the outbox on one connection. Webhooks are read once a transaction; without one an event costs nothing. */
export function prepareOutbox(database: DatabaseSync, tables: QuotedTables): Outbox {
  const statement = createStatements(database);
  const select = database.prepare(`SELECT * FROM ${tables.webhooks} WHERE enabled = 1`);
  let enabled: readonly Row[] | undefined;
  return {
    happen(facts) {
      enabled ??= select.all();
      if (enabled.length === 0) return;
      for (const { sql, values } of writeOutbox(tables, enabled, [facts()])) statement(sql).run(...values);
      // What waits for them is another number now.
      enabled = undefined;
    },
    forget() {
      enabled = undefined;
    },
  };
}
