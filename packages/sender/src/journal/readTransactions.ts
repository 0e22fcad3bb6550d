import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { IntentFailure } from '../intents/intent.ts';

/** A transaction that was signed for an intent, as the journal has it. */
export interface WrittenTransaction {
  readonly intentId: string;
  readonly txHash: string;
  /** Of the account. */
  readonly nonce: number;
  /** `cancel`: it only frees the nonce. */
  readonly kind: 'call' | 'cancel';
  /** In wei, as text. */
  readonly maxFeePerGas: string;
  readonly signedAtMs: number;
  /** Where the intent stands. */
  readonly state: string;
  /** Why it was given up. */
  readonly failure?: string;
}

/**
 * Reads the transactions that were signed for some intents from a sender's journal, which may be in use.
 *
 * @param journalPath - the SQLite file
 * @param intentIds - those that it does not know are passed over
 * @returns oldest first; none where there is no such file
 * @throws Error of node:sqlite
 */
export function readTransactions(journalPath: string, intentIds: readonly string[]): readonly WrittenTransaction[] {
  if (!existsSync(journalPath)) return [];
  const database = new DatabaseSync(journalPath, { readOnly: true });
  try {
    const select = database.prepare(
      `SELECT versions.*, intents.state, intents.failure FROM versions JOIN intents USING (intent_id)
       WHERE intent_id = ? ORDER BY versions.created_at_ms, versions.rowid`,
    );
    return intentIds.flatMap((intentId) =>
      select.all(intentId).map((row): WrittenTransaction => {
        // The columns are the schema's own.
        const failure = row.failure === null ? undefined : (JSON.parse(row.failure as string) as IntentFailure);
        return {
          intentId,
          txHash: row.hash as string,
          nonce: row.nonce as number,
          kind: row.kind as WrittenTransaction['kind'],
          maxFeePerGas: row.max_fee_per_gas as string,
          signedAtMs: row.created_at_ms as number,
          state: row.state as string,
          ...(failure !== undefined && { failure: `${failure.code}: ${failure.message}` }),
        };
      }),
    );
  } finally {
    database.close();
  }
}
