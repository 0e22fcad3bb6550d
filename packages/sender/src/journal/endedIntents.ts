import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { concat, type Hash } from 'viem';
import { hexToBytes, toHex } from 'viem/utils';
import type { Intent, Sent } from '../intents/intent.ts';
import type { IntentState } from '../intents/intentState.ts';
import { hashCall, type LiveIntent } from '../intents/liveIntent.ts';
import { decodeJson, encodeJson, type Row } from './schema.ts';

const HASH_BYTES = 32;

/** `ended` has no column for what the others say: no logs, no label, no bytes. */
function endedParameters(intent: LiveIntent): Record<string, SQLInputValue> {
  const { intentId, state, confirmations, sent, failure, createdAtMs, updatedAtMs } = intent;
  const hashes = intent.versions.map(({ hash }) => hash);
  return {
    intent_id: intentId,
    // An ended intent has a nonce.
    nonce: intent.nonce as number,
    call_hash: hexToBytes(hashCall(intent.call)),
    hashes: hexToBytes(concat(hashes)),
    state: state === 'confirmed' ? 0 : 1,
    confirmations,
    mined: sent === undefined ? null : hashes.indexOf(sent.txHash),
    reverted: sent?.status === 'reverted' ? 1 : null,
    block_number: sent === undefined ? null : Number(sent.blockNumber),
    block_hash: sent === undefined ? null : hexToBytes(sent.blockHash),
    gas_used: sent === undefined ? null : Number(sent.gasUsed),
    gas_price: sent === undefined ? null : `${sent.effectiveGasPrice}`,
    data_fee: sent === undefined || sent.dataFee === 0n ? null : `${sent.dataFee}`,
    failure: encodeJson(failure),
    created_at_ms: createdAtMs,
    ended_ms: updatedAtMs - createdAtMs,
  };
}

function readHashes(bytes: Uint8Array): readonly Hash[] {
  const count = bytes.length / HASH_BYTES;
  return Array.from({ length: count }, (_, i) => toHex(bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)));
}

/** Casts: the rows were written by this file, and a STRICT table keeps the types. */
function readSent(row: Row, txHashes: readonly Hash[]): Sent {
  return {
    intentId: row.intent_id as string,
    txHash: txHashes[row.mined as number] as Hash,
    nonce: row.nonce as number,
    status: row.reverted === null ? 'success' : 'reverted',
    blockNumber: BigInt(row.block_number as number),
    blockHash: toHex(row.block_hash as Uint8Array),
    gasUsed: BigInt(row.gas_used as number),
    effectiveGasPrice: BigInt(row.gas_price as string),
    dataFee: BigInt((row.data_fee as string | null) ?? '0'),
    logs: [],
  };
}

/** Reads a row of `ended`. */
export function readEnded(row: Row): Intent {
  const txHashes = readHashes(row.hashes as Uint8Array);
  const state: IntentState = row.state === 0 ? 'confirmed' : 'abandoned';
  const failure = decodeJson(row.failure) as Intent['failure'];
  const createdAtMs = row.created_at_ms as number;
  return {
    intentId: row.intent_id as string,
    state,
    callHash: toHex(row.call_hash as Uint8Array),
    confirmations: row.confirmations as number,
    nonce: row.nonce as number,
    txHashes,
    ...(row.mined === null ? {} : { sent: readSent(row, txHashes) }),
    ...(failure === undefined ? {} : { failure }),
    createdAtMs,
    updatedAtMs: createdAtMs + (row.ended_ms as number),
  };
}

/** Intents that have ended for good, in their short form. */
export interface EndedIntents {
  /** Moves an intent from the other tables to this one. */
  add(intent: LiveIntent): void;
  get(intentId: string): Intent | undefined;
  list(states: readonly IntentState[]): readonly Intent[];
}

/**
 * Prepares reads and writes of the table `ended`.
 *
 * @param database - with the sender's tables
 */
export function createEndedIntents(database: DatabaseSync): EndedIntents {
  const insert = database.prepare(
    `INSERT INTO ended VALUES (:intent_id, :nonce, :call_hash, :hashes, :state, :confirmations, :mined, :reverted, :block_number,
     :block_hash, :gas_used, :gas_price, :data_fee, :failure, :created_at_ms, :ended_ms)`,
  );
  const dropVersions = database.prepare('DELETE FROM versions WHERE intent_id = ?');
  const dropIntent = database.prepare('DELETE FROM intents WHERE intent_id = ?');
  const byId = database.prepare('SELECT * FROM ended WHERE intent_id = ?');
  const all = database.prepare('SELECT * FROM ended');
  return {
    add(intent) {
      insert.run(endedParameters(intent));
      dropVersions.run(intent.intentId);
      dropIntent.run(intent.intentId);
    },
    get(intentId) {
      const row = byId.get(intentId);
      return row === undefined ? undefined : readEnded(row);
    },
    list(states) {
      if (!states.includes('confirmed') && !states.includes('abandoned')) return [];
      return all
        .all()
        .map(readEnded)
        .filter(({ state }) => states.includes(state));
    },
  };
}
