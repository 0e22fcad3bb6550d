import type { DatabaseSync } from 'node:sqlite';
import { commitTogether } from '@prism-gateway/alerts';
import type { Address, Hash, Hex } from 'viem';

/** What a relayer's transaction is: a payout, or none. */
export interface MarkedTransaction {
  readonly txHash: Hash;
  /** Who sent it; lower case. */
  readonly sender: Address;
  readonly kind: 'payout' | 'none';
  /** Which payment it pays; absent for `none`. */
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

/** A range of blocks as it was searched. */
export interface SearchedRange {
  /** Chain and contracts; what was found under others stays where it is. */
  readonly scope: string;
  /** Whose transactions were searched for; lower case. */
  readonly relayers: readonly Address[];
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly added: readonly MarkedTransaction[];
  readonly places: readonly Place[];
}

/** What relayers have said on the chain, as far as it was searched. */
export interface MarkTable {
  has(txHash: Hash): boolean;
  /** Writes what is new, and where all transactions of a range stand now; those of the range that are not named stand nowhere. */
  replaceRange(range: SearchedRange): void;
  /** The block of a transaction; undefined where it is not on the chain. */
  blockOf(txHash: Hash): number | undefined;
  /** Credit base units that a payout transfers, on the chain or not; undefined where it was never seen. */
  amountOf(txHash: Hash): bigint | undefined;
  /** Transactions on the chain with a mark, in the chain's order. */
  find(mark: Hex): readonly PlacedMark[];
  /** Payouts of an address on the chain, newest first. */
  listPayoutsBy(sender: Address): readonly PlacedMark[];
  /** Up to which block the chain has been searched for an address, by chain and contracts; undefined before the first search. */
  cursor(scope: string, relayer: Address): number | undefined;
  /** All addresses that were ever searched for; lower case. */
  listRelayers(): readonly Address[];
  /** Has a scope searched from its beginning again; what was found stays until it is looked for. */
  forgetCursors(scope: string): void;
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

function prepareWrites(database: DatabaseSync) {
  return {
    forget: database.prepare(
      'UPDATE marks SET block_number = NULL, tx_index = NULL WHERE block_number BETWEEN ? AND ? AND scope = ? AND sender = ?',
    ),
    add: database.prepare(
      `INSERT INTO marks (tx_hash, sender, kind, mark, recipient, amount, scope) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tx_hash) DO UPDATE SET kind = excluded.kind, mark = excluded.mark, recipient = excluded.recipient, amount = excluded.amount, scope = excluded.scope`,
    ),
    place: database.prepare('UPDATE marks SET block_number = ?, tx_index = ?, scope = ? WHERE tx_hash = ?'),
    setCursor: database.prepare(
      `INSERT INTO cursors VALUES (?, ?, ?)
       ON CONFLICT (scope, relayer) DO UPDATE SET block_number = max(block_number, excluded.block_number)`,
    ),
  };
}

/**
 * Keeps marks in the journal's file.
 *
 * @param database - with the journal's tables
 * @returns the table
 */
export function createMarkTable(database: DatabaseSync): MarkTable {
  const { forget, add, place, setCursor } = prepareWrites(database);
  const has = database.prepare('SELECT 1 FROM marks WHERE tx_hash = ?');
  const blockOf = database.prepare('SELECT block_number FROM marks WHERE tx_hash = ?');
  const amountOf = database.prepare('SELECT amount FROM marks WHERE tx_hash = ?');
  const find = database.prepare(
    'SELECT * FROM marks WHERE mark = ? AND block_number IS NOT NULL ORDER BY block_number, tx_index',
  );
  const payouts = database.prepare(
    `SELECT * FROM marks WHERE sender = ? AND kind = 'payout' AND block_number IS NOT NULL ORDER BY block_number DESC`,
  );
  const readCursor = database.prepare('SELECT block_number FROM cursors WHERE scope = ? AND relayer = ?');
  const relayersOf = database.prepare('SELECT DISTINCT relayer FROM cursors ORDER BY relayer');
  const forgetCursors = database.prepare('DELETE FROM cursors WHERE scope = ?');
  return {
    has: (txHash) => has.get(txHash) !== undefined,
    replaceRange({ scope, relayers, fromBlock, toBlock, added, places }) {
      commitTogether(database, () => {
        for (const relayer of relayers) forget.run(fromBlock, toBlock, scope, relayer);
        for (const { txHash, sender, kind, mark, recipient, amount } of added) {
          const amountText = amount === undefined ? null : `${amount}`;
          add.run(txHash, sender, kind, mark ?? null, recipient ?? null, amountText, scope);
        }
        for (const { txHash, blockNumber, txIndex } of places) place.run(blockNumber, txIndex, scope, txHash);
        for (const relayer of relayers) setCursor.run(scope, relayer, toBlock);
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
    listPayoutsBy: (sender) => payouts.all(sender.toLowerCase()).map(readMark),
    cursor(scope, relayer) {
      const block = readCursor.get(scope, relayer.toLowerCase())?.block_number;
      return typeof block === 'number' ? block : undefined;
    },
    // Only addresses are written.
    listRelayers: () => relayersOf.all().map(({ relayer }) => relayer as Address),
    forgetCursors: (scope) => void forgetCursors.run(scope),
  };
}
