import type { DatabaseSync } from 'node:sqlite';
import { type Hash, type Hex, keccak256 } from 'viem';

/** A transaction of this instance that may be on the chain, and not yet for good. */
export interface Broadcast {
  readonly txHash: Hash;
  /** The account nonce. */
  readonly nonce: number;
  readonly raw: Hex;
}

/** Signed bytes that were offered to a node, kept until no reorganisation can undo them. */
export interface BroadcastTable {
  add(broadcast: { readonly nonce: number; readonly raw: Hex }): void;
  /** The newest of each nonce, lowest nonce first. */
  list(): readonly Broadcast[];
  /** The nonce of a transaction; undefined if it is not kept (any more). */
  nonceOf(txHash: Hash): number | undefined;
  /** @returns the signed bytes; undefined if they are not kept (any more) */
  find(txHash: Hash): Hex | undefined;
  /** All that were broadcast on a nonce, and are kept, newest last. */
  listOn(nonce: number): readonly Hash[];
  /** Forgets all up to a nonce. */
  forget(nonce: number): void;
}

/** Keeps broadcasts in the journal's file. */
export function createBroadcastTable(database: DatabaseSync): BroadcastTable {
  const add = database.prepare('INSERT INTO broadcasts VALUES (?, ?, ?) ON CONFLICT (tx_hash) DO NOTHING');
  const list = database.prepare(
    'SELECT * FROM broadcasts WHERE rowid IN (SELECT max(rowid) FROM broadcasts GROUP BY nonce) ORDER BY nonce',
  );
  const nonceOf = database.prepare('SELECT nonce FROM broadcasts WHERE tx_hash = ?');
  const find = database.prepare('SELECT raw FROM broadcasts WHERE tx_hash = ?');
  const listOn = database.prepare('SELECT tx_hash FROM broadcasts WHERE nonce = ? ORDER BY rowid');
  const forget = database.prepare('DELETE FROM broadcasts WHERE nonce <= ?');
  return {
    add: ({ nonce, raw }) => void add.run(keccak256(raw), nonce, raw),
    // Casts: only this table's own writes are read.
    list: () =>
      list.all().map((row) => ({ txHash: row.tx_hash as Hash, nonce: Number(row.nonce), raw: row.raw as Hex })),
    nonceOf(txHash) {
      const nonce = nonceOf.get(txHash)?.nonce;
      return typeof nonce === 'number' ? nonce : undefined;
    },
    find: (txHash) => find.get(txHash)?.raw as Hex | undefined,
    listOn: (nonce) => listOn.all(nonce).map((row) => row.tx_hash as Hash),
    forget: (nonce) => void forget.run(nonce),
  };
}
