import type { DatabaseSync } from 'node:sqlite';
import type { Address, Hash, Hex } from 'viem';
import { commitTogether } from './commitTogether.ts';

/** What a relayer's transaction says about a payment. */
export interface MarkedTransaction {
  readonly txHash: Hash;
  /** Who sent it; lower case. */
  readonly sender: Address;
  readonly kind: 'payout' | 'announce' | 'none';
  /** The last 32 bytes of its calldata; absent for `none`. */
  readonly mark?: Hex;
  /** Who got credits; lower case; for `payout`. */
  readonly recipient?: Address;
  /** Credit base units; for `payout`. */
  readonly amount?: bigint;
}

/** A marked transaction at its place in the chain. */
export interface PlacedMark extends MarkedTransaction {
  readonly blockNumber: number;
  readonly txIndex: number;
}

/** Where a transaction stands in the chain. */
export interface Place {
  readonly txHash: Hash;
  readonly blockNumber: number;
  readonly txIndex: number;
}

/** What relayers have said on the chain, as far as it was searched. */
export interface MarkTable {
  has(txHash: Hash): boolean;
  /** Writes what is new, and where all transactions of a range of blocks stand now; those of the range that are not named stand nowhere. */
  replaceRange(range: {
    readonly fromBlock: number;
    readonly toBlock: number;
    readonly added: readonly MarkedTransaction[];
    readonly places: readonly Place[];
  }): void;
  /** The block of a transaction; undefined where it is not on the chain. */
  blockOf(txHash: Hash): number | undefined;
  /** Credit base units that a payout transfers, on the chain or not; undefined where it was never seen. */
  amountOf(txHash: Hash): bigint | undefined;
  /** Transactions on the chain with a mark, in the chain's order. */
  find(mark: Hex): readonly PlacedMark[];
  /** Up to which block the chain has been searched; undefined before the first search. */
  cursor(): number | undefined;
}

function readMark(row: Readonly<Record<string, unknown>>): PlacedMark {
  // Casts: only this table's own writes are read.
  return {
    txHash: row.tx_hash as Hash,
    sender: row.sender as Address,
    kind: row.kind as MarkedTransaction['kind'],
    ...(row.mark === null ? {} : { mark: row.mark as Hex }),
    ...(row.recipient === null ? {} : { recipient: row.recipient as Address }),
    ...(row.amount === null ? {} : { amount: BigInt(`${row.amount}`) }),
    blockNumber: Number(row.block_number),
    txIndex: Number(row.tx_index),
  };
}

/**
 * Keeps marks in the journal's file.
 *
 * @param database - with the journal's tables
 * @returns the table
 */
export function createMarkTable(database: DatabaseSync): MarkTable {
  const has = database.prepare('SELECT 1 FROM marks WHERE tx_hash = ?');
  const forget = database.prepare(
    'UPDATE marks SET block_number = NULL, tx_index = NULL WHERE block_number BETWEEN ? AND ?',
  );
  const add = database.prepare(
    'INSERT INTO marks (tx_hash, sender, kind, mark, recipient, amount) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tx_hash) DO NOTHING',
  );
  const place = database.prepare('UPDATE marks SET block_number = ?, tx_index = ? WHERE tx_hash = ?');
  const blockOf = database.prepare('SELECT block_number FROM marks WHERE tx_hash = ?');
  const amountOf = database.prepare('SELECT amount FROM marks WHERE tx_hash = ?');
  const find = database.prepare(
    'SELECT * FROM marks WHERE mark = ? AND block_number IS NOT NULL ORDER BY block_number, tx_index',
  );
  const readCursor = database.prepare(`SELECT value FROM facts WHERE name = 'searched to block'`);
  const setCursor = database.prepare(
    `INSERT INTO facts VALUES ('searched to block', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  );
  const cursor = () => {
    const value = readCursor.get()?.value;
    return value === undefined ? undefined : Number(value);
  };
  return {
    has: (txHash) => has.get(txHash) !== undefined,
    replaceRange({ fromBlock, toBlock, added, places }) {
      commitTogether(database, () => {
        forget.run(fromBlock, toBlock);
        for (const { txHash, sender, kind, mark, recipient, amount } of added) {
          add.run(txHash, sender, kind, mark ?? null, recipient ?? null, amount === undefined ? null : `${amount}`);
        }
        for (const { txHash, blockNumber, txIndex } of places) place.run(blockNumber, txIndex, txHash);
        setCursor.run(`${Math.max(toBlock, cursor() ?? 0)}`);
      });
    },
    blockOf(txHash) {
      const block = blockOf.get(txHash)?.block_number;
      return typeof block === 'number' ? block : undefined;
    },
    amountOf(txHash) {
      const amount = amountOf.get(txHash)?.amount;
      return typeof amount === 'string' ? BigInt(amount) : undefined;
    },
    find: (mark) => find.all(mark).map(readMark),
    cursor,
  };
}
