import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { IntentFailure } from '../intents/intent.ts';
import type { MinedAt } from '../intents/liveIntent.ts';
import { createEndedIntents } from './endedIntents.ts';
import { decodeJson } from './schema.ts';

/** A transaction that was signed for an intent, as the journal has it. */
export interface WrittenTransaction {
  readonly intentId: string;
  readonly txHash: string;
  /** Of the account. */
  readonly nonce: number;
  /** `cancel`: it only frees the nonce. Absent once it was pruned. */
  readonly kind?: 'call' | 'cancel';
  /** In wei, as text. Absent once it was pruned. */
  readonly maxFeePerGas?: string;
  readonly signedAtMs: number;
  /** When it was first seen in a block, and in which. Absent if it was not, and once it was pruned. */
  readonly mined?: { readonly atMs: number; readonly blockNumber: string };
  /** Where the intent stands. */
  readonly state: string;
  /** Why it was given up. */
  readonly failure?: string;
}

const describe = ({ code, message }: IntentFailure) => `${code}: ${message}`;

/**
 * Reads the transactions that were signed for some intents from a sender's journal, which may be in use.
 *
 * @param journalPath - the SQLite file
 * @param intentIds - those that it does not know are passed over
 * @returns oldest first; none if there is no such file
 * @throws Error of node:sqlite
 */
export function readTransactions(journalPath: string, intentIds: readonly string[]): readonly WrittenTransaction[] {
  if (!existsSync(journalPath)) return [];
  const database = new DatabaseSync(journalPath, { readOnly: true });
  try {
    const select = database.prepare(
      `SELECT versions.*, intents.state, intents.failure, intents.mined FROM versions JOIN intents USING (intent_id)
       WHERE intent_id = ? ORDER BY versions.created_at_ms, versions.rowid`,
    );
    const ended = createEndedIntents(database);
    return intentIds.flatMap((intentId) => {
      const { txHashes = [], nonce = 0, updatedAtMs = 0, state = '', failure: why } = ended.get(intentId) ?? {};
      const pruned = txHashes.map((txHash): WrittenTransaction => {
        return { intentId, txHash, nonce, signedAtMs: updatedAtMs, state, ...(why && { failure: describe(why) }) };
      });
      const whole = select.all(intentId).map((row): WrittenTransaction => {
        // The columns are the schema's own.
        const failure = decodeJson(row.failure) as IntentFailure | undefined;
        const mined = decodeJson(row.mined) as MinedAt | undefined;
        return {
          intentId,
          txHash: row.hash as string,
          nonce: row.nonce as number,
          kind: row.kind as 'call' | 'cancel',
          maxFeePerGas: row.max_fee_per_gas as string,
          signedAtMs: row.created_at_ms as number,
          state: row.state as string,
          ...(mined !== undefined &&
            mined.txHash === row.hash && {
              mined: { atMs: mined.seenAtMs, blockNumber: `${mined.blockNumber}` },
            }),
          ...(failure && { failure: describe(failure) }),
        };
      });
      return [...pruned, ...whole];
    });
  } finally {
    database.close();
  }
}
