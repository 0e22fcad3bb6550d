import type { DatabaseSync } from 'node:sqlite';
import { commitTogether } from '@prism-gateway/node/alerts';
import type { Address, Hash, Hex } from 'viem';

/** A transaction that has moved credits, as far as it was looked for. */
export interface FoundTransfer {
  readonly txHash: Hash;
  /** Who signed it; lower case. */
  readonly sender: Address;
  /** The contract that it called; lower case; absent: none. */
  readonly via?: Address;
  /** Which payment it pays; absent: none. */
  readonly payoutId?: Hex;
  /** Who got credits; lower case. */
  readonly recipient: Address;
  /** Credit base units that the token's logs say the recipient got. */
  readonly amount: bigint;
}

/** A transaction at its place in the chain. */
export interface PlacedTransfer extends FoundTransfer {
  readonly blockNumber: number;
  readonly txIndex: number;
}

/** Where a transaction stands in the chain. */
export type Place = Pick<PlacedTransfer, 'txHash' | 'blockNumber' | 'txIndex'>;

/** Whose transfers are searched for: those out of an address, or those to it. Lower case. */
export interface Party {
  readonly side: 'from' | 'to';
  readonly address: Address;
}

/** A range of blocks as it was searched. */
export interface SearchedRange {
  /** Chain and token; what was found under others stays where it is. */
  readonly scope: string;
  readonly parties: readonly Party[];
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly added: readonly FoundTransfer[];
  readonly places: readonly Place[];
}

/** Transfers of credits on the chain, as far as it was searched. */
export interface TransferTable {
  has(txHash: Hash): boolean;
  /** Writes what is new, and where all transactions of a range stand now; those of its parties that are not named stand nowhere. */
  replaceRange(range: SearchedRange): void;
  /** The block of a transaction; undefined if it is not on the chain. */
  blockOf(txHash: Hash): number | undefined;
  /** Credit base units that a transaction moves, on the chain or not; undefined if it was never seen. */
  amountOf(txHash: Hash): bigint | undefined;
  /** Transactions on the chain with a payout id, in the chain's order. */
  find(payoutId: Hex): readonly PlacedTransfer[];
  /** Transactions of an address on the chain that have a payout id, newest first. */
  listPayoutsBy(sender: Address): readonly PlacedTransfer[];
  /** All transactions on the chain that have a payout id, in the chain's order. */
  listAll(): readonly PlacedTransfer[];
  /** Up to which block the chain has been searched for a party; undefined before the first search. */
  cursor(scope: string, party: Party): number | undefined;
  /** The newest block that was ever searched; 0: none. */
  lastBlock(scope: string): number;
  /** Has a scope searched again beyond a block, or from its beginning; what was found stays until it is looked for. */
  forgetCursors(scope: string, beyond?: number): void;
}

const nameOf = ({ side, address }: Party) => `${side} ${address}`;

function readTransfer(row: Readonly<Record<string, unknown>>): PlacedTransfer {
  // Casts: only this table's own writes are read.
  return {
    txHash: row.tx_hash as Hash,
    sender: row.sender as Address,
    ...(row.via === null ? {} : { via: row.via as Address }),
    ...(row.payout_id === null ? {} : { payoutId: row.payout_id as Hex }),
    recipient: row.recipient as Address,
    amount: BigInt(`${row.amount}`),
    blockNumber: Number(row.block_number),
    txIndex: Number(row.tx_index),
  };
}

function prepareWrites(database: DatabaseSync) {
  const forget = (column: 'sender' | 'recipient') =>
    database.prepare(
      `UPDATE transfers SET block_number = NULL, tx_index = NULL WHERE block_number BETWEEN ? AND ? AND scope = ? AND ${column} = ?`,
    );
  return {
    forget: { from: forget('sender'), to: forget('recipient') },
    add: database.prepare(
      `INSERT INTO transfers (tx_hash, sender, via, payout_id, recipient, amount, scope) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tx_hash) DO UPDATE SET payout_id = excluded.payout_id, recipient = excluded.recipient, amount = excluded.amount, scope = excluded.scope`,
    ),
    place: database.prepare('UPDATE transfers SET block_number = ?, tx_index = ?, scope = ? WHERE tx_hash = ?'),
    setCursor: database.prepare(
      `INSERT INTO cursors VALUES (?, ?, ?)
       ON CONFLICT (scope, party) DO UPDATE SET block_number = max(block_number, excluded.block_number)`,
    ),
  };
}

/** Keeps found transfers in the journal's file. */
export function createTransferTable(database: DatabaseSync): TransferTable {
  const { forget, add, place, setCursor } = prepareWrites(database);
  const find = database.prepare(
    'SELECT * FROM transfers WHERE payout_id = ? AND block_number IS NOT NULL ORDER BY block_number, tx_index',
  );
  const row = database.prepare('SELECT block_number, amount FROM transfers WHERE tx_hash = ?');
  const payouts = database.prepare(
    'SELECT * FROM transfers WHERE sender = ? AND payout_id IS NOT NULL AND block_number IS NOT NULL ORDER BY block_number DESC',
  );
  const all = database.prepare(
    'SELECT * FROM transfers WHERE payout_id IS NOT NULL AND block_number IS NOT NULL ORDER BY block_number, tx_index',
  );
  const readCursor = database.prepare('SELECT block_number FROM cursors WHERE scope = ? AND party = ?');
  const readLast = database.prepare('SELECT max(block_number) AS block_number FROM cursors WHERE scope = ?');
  const forgetCursors = database.prepare('DELETE FROM cursors WHERE scope = ?');
  const takeBack = database.prepare('UPDATE cursors SET block_number = min(block_number, ?) WHERE scope = ?');
  return {
    has: (txHash) => row.get(txHash) !== undefined,
    replaceRange({ scope, parties, fromBlock, toBlock, added, places }) {
      commitTogether(database, () => {
        for (const { side, address } of parties) forget[side].run(fromBlock, toBlock, scope, address);
        for (const { txHash, sender, via, payoutId, recipient, amount } of added)
          add.run(txHash, sender, via ?? null, payoutId ?? null, recipient, `${amount}`, scope);
        for (const { txHash, blockNumber, txIndex } of places) place.run(blockNumber, txIndex, scope, txHash);
        for (const party of parties) setCursor.run(scope, nameOf(party), toBlock);
      });
    },
    blockOf(txHash) {
      const block = row.get(txHash)?.block_number;
      return typeof block === 'number' ? block : undefined;
    },
    amountOf(txHash) {
      const amount = row.get(txHash)?.amount;
      return typeof amount === 'string' ? BigInt(amount) : undefined;
    },
    find: (payoutId) => find.all(payoutId).map(readTransfer),
    listPayoutsBy: (sender) => payouts.all(sender.toLowerCase()).map(readTransfer),
    listAll: () => all.all().map(readTransfer),
    cursor(scope, party) {
      const block = readCursor.get(scope, nameOf(party))?.block_number;
      return typeof block === 'number' ? block : undefined;
    },
    lastBlock: (scope) => Number(readLast.get(scope)?.block_number ?? 0),
    forgetCursors(scope, beyond) {
      if (beyond === undefined) forgetCursors.run(scope);
      else takeBack.run(beyond, scope);
    },
  };
}
