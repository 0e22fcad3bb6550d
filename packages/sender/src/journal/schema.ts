import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { Schema } from '@prism-gateway/node';
import type { Address, Hash } from 'viem';
import { hexToBytes, toHex } from 'viem/utils';
import type { TxVersion } from '../intents/intent.ts';
import type { IntentState } from '../intents/intentState.ts';
import { createTraces, type LiveIntent } from '../intents/liveIntent.ts';

/**
 * `intents`: what callers want, with its account nonce; no two intents ever share one. `versions`: each transaction ever signed, never
 * deleted before its nonce is final, so that whichever is mined is known. `ended`: what is kept of an intent once it is final. `facts`: which
 * key on which chain the journal belongs to.
 */
export const SENDER_SCHEMA: Schema = {
  store: 'sender',
  steps: [
    `CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE intents (
      intent_id TEXT PRIMARY KEY,
      to_address TEXT NOT NULL,
      data BLOB NOT NULL,
      value TEXT NOT NULL,
      gas_limit TEXT NOT NULL,
      confirmations INTEGER NOT NULL,
      label TEXT,
      state TEXT NOT NULL,
      nonce INTEGER UNIQUE,
      failure TEXT,
      mined TEXT,
      sent TEXT,
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      max_fee_per_gas TEXT,
      expires_at_ms INTEGER,
      CHECK ((state = 'queued') = (nonce IS NULL)),
      CHECK ((state = 'confirmed') = (sent IS NOT NULL))
    ) STRICT;
    -- Those in some states, such as what is under way at the start.
    CREATE INDEX intents_by_state ON intents (state, created_at_ms);
    CREATE TABLE versions (
      hash TEXT PRIMARY KEY,
      intent_id TEXT REFERENCES intents,
      nonce INTEGER NOT NULL,
      kind TEXT NOT NULL,
      -- Without the intent's calldata, which stood at data_at of it.
      raw BLOB NOT NULL,
      data_at INTEGER,
      gas_limit TEXT NOT NULL,
      max_fee_per_gas TEXT NOT NULL,
      max_priority_fee_per_gas TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) STRICT;
    -- The versions on a nonce, and the highest nonce.
    CREATE INDEX versions_by_nonce ON versions (nonce);
    -- The versions of an intent, oldest first.
    CREATE INDEX versions_by_intent ON versions (intent_id, created_at_ms);
    CREATE TABLE ended (
      intent_id TEXT PRIMARY KEY,
      nonce INTEGER NOT NULL,
      call_hash BLOB NOT NULL,
      -- Of all its transactions, 32 bytes each, oldest first.
      hashes BLOB NOT NULL,
      state INTEGER NOT NULL,
      confirmations INTEGER NOT NULL,
      -- Which of the hashes.
      mined INTEGER,
      reverted INTEGER,
      block_number INTEGER,
      block_hash BLOB,
      gas_used INTEGER,
      gas_price TEXT,
      data_fee TEXT,
      failure TEXT,
      created_at_ms INTEGER NOT NULL,
      ended_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;`,
  ],
};

/** A row as SQLite gives it. */
export type Row = Record<string, SQLOutputValue>;

/** JSON with bigints, which become `{"$bigint":"12"}`. */
export function encodeJson(value: unknown): string | null {
  if (value === undefined) return null;
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? { $bigint: `${part}` } : part));
}

/** Reads what `encodeJson` wrote. */
export function decodeJson(text: SQLOutputValue | undefined): unknown {
  if (text === null || text === undefined) return undefined;
  return JSON.parse(`${text}`, (_, part) => {
    const digits = typeof part === 'object' && part !== null && '$bigint' in part ? part.$bigint : undefined;
    return typeof digits === 'string' ? BigInt(digits) : part;
  });
}

/**
 * Reads a row of `versions`. Casts here and below: the rows were written by this file, and STRICT tables keep the types.
 *
 * @param row - all columns, and `data` of its intent
 * @returns the version
 */
export function readVersion(row: Row): TxVersion {
  return {
    hash: row.hash as Hash,
    ...(row.intent_id === null ? {} : { intentId: row.intent_id as string }),
    nonce: row.nonce as number,
    kind: row.kind as TxVersion['kind'],
    raw: toHex(joinRaw(row)),
    gasLimit: BigInt(row.gas_limit as string),
    maxFeePerGas: BigInt(row.max_fee_per_gas as string),
    maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas as string),
    createdAtMs: row.created_at_ms as number,
  };
}

/**
 * Reads a row of `intents`.
 *
 * @param row - all columns
 * @param versions - of the intent, oldest first
 * @returns the intent
 */
export function readIntent(row: Row, versions: readonly TxVersion[]): LiveIntent {
  return {
    intentId: row.intent_id as string,
    label: (row.label as string | null) ?? undefined,
    call: { to: row.to_address as Address, data: toHex(row.data as Uint8Array), value: BigInt(row.value as string) },
    gasLimit: BigInt(row.gas_limit as string),
    confirmations: row.confirmations as number,
    maxFeePerGas: row.max_fee_per_gas === null ? undefined : BigInt(row.max_fee_per_gas as string),
    expiresAtMs: (row.expires_at_ms as number | null) ?? undefined,
    state: row.state as IntentState,
    nonce: (row.nonce as number | null) ?? undefined,
    versions,
    failure: decodeJson(row.failure) as LiveIntent['failure'],
    mined: decodeJson(row.mined) as LiveIntent['mined'],
    sent: decodeJson(row.sent) as LiveIntent['sent'],
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
    isJournalled: true,
    rejectsHighGas: false,
    ...createTraces(),
  };
}

/**
 * Writes an intent as the named parameters of its row.
 *
 * @param intent - in whatever state
 * @returns values by column
 */
export function intentParameters(intent: LiveIntent): Record<string, SQLInputValue> {
  return {
    intent_id: intent.intentId,
    to_address: intent.call.to,
    data: hexToBytes(intent.call.data),
    value: `${intent.call.value}`,
    gas_limit: `${intent.gasLimit}`,
    confirmations: intent.confirmations,
    label: intent.label ?? null,
    state: intent.state,
    nonce: intent.nonce ?? null,
    failure: encodeJson(intent.failure),
    mined: encodeJson(intent.mined),
    sent: encodeJson(intent.sent),
    created_at_ms: intent.createdAtMs,
    updated_at_ms: intent.updatedAtMs,
    max_fee_per_gas: intent.maxFeePerGas === undefined ? null : `${intent.maxFeePerGas}`,
    expires_at_ms: intent.expiresAtMs ?? null,
  };
}

/** Finds the calldata in signed bytes, so that it is written once: it stands there as it is. */
function cutData(raw: Uint8Array, data: Uint8Array) {
  const at = data.length === 0 ? -1 : Buffer.from(raw).indexOf(data);
  if (at < 0) return { raw, data_at: null };
  return { raw: Buffer.concat([raw.subarray(0, at), raw.subarray(at + data.length)]), data_at: at };
}

function joinRaw(row: Row): Uint8Array {
  const raw = row.raw as Uint8Array;
  const at = row.data_at as number | null;
  if (at === null) return raw;
  return Buffer.concat([raw.subarray(0, at), row.data as Uint8Array, raw.subarray(at)]);
}

/**
 * Writes a version as the named parameters of its row.
 *
 * @param version - signed
 * @param data - the calldata of its intent, as the journal has it
 * @returns values by column
 */
export function versionParameters(version: TxVersion, data: Uint8Array): Record<string, SQLInputValue> {
  return {
    hash: version.hash,
    intent_id: version.intentId ?? null,
    nonce: version.nonce,
    kind: version.kind,
    ...cutData(hexToBytes(version.raw), data),
    gas_limit: `${version.gasLimit}`,
    max_fee_per_gas: `${version.maxFeePerGas}`,
    max_priority_fee_per_gas: `${version.maxPriorityFeePerGas}`,
    created_at_ms: version.createdAtMs,
  };
}
