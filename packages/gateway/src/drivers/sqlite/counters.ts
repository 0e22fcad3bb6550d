import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isStatusMove } from '@prism-gateway/protocol/states';
import { createTally, type Move, prepareSaveTally } from './createTally.ts';
import type { QuotedTables } from './tables.ts';

/** Moves of one commit, by their numbers: those after `after`, up to `last`. */
export interface CommittedMoves {
  readonly after: number;
  readonly last: number;
}

/** All that is counted of the records, in the transactions in which they change. */
export interface Counters {
  /** The number of the next move: they rise in the order of the commits, over all processes, and none is given twice. */
  nextMove(): number;
  /** Counts a change of a record, whoever makes it. @throws Error for a move that the table of moves has not */
  moved(move: Move): void;
  /** Counts a claim that was lost to a rival. */
  lost(relayer: string): void;
  /** How many requests a relayer holds. */
  heldBy(relayer: string): number;
  /** Writes them; to be called before the commit. @returns the transaction's moves, if there are any */
  save(): CommittedMoves | undefined;
  /** Drops what a transaction that failed has counted. */
  forget(): void;
}

const SEQUENCE = 'sequence';

/** Numbers the moves of a transaction. */
function prepareSequence(database: DatabaseSync, { counters }: QuotedTables) {
  const select = database.prepare(`SELECT value FROM ${counters} WHERE name = '${SEQUENCE}'`);
  const upsert = database.prepare(
    `INSERT INTO ${counters} VALUES ('${SEQUENCE}', ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
  );
  /** As it was when the transaction began. */
  let first: number | undefined;
  let last = 0;
  return {
    next(): number {
      if (first === undefined) {
        first = Number(select.get()?.value ?? 0);
        last = first;
      }
      return ++last;
    },
    save(): CommittedMoves | undefined {
      if (first === undefined) return undefined;
      const moves = { after: first, last };
      upsert.run(last);
      first = undefined;
      return moves;
    },
    forget() {
      first = undefined;
    },
  };
}

/** Reads what relayers hold as of the beginning of the transaction. */
function prepareHeld(database: DatabaseSync, tables: QuotedTables) {
  const select = database.prepare(`SELECT open_claims FROM ${tables.relayerStats} WHERE address = ?`);
  const known = new Map<string, number>();
  return {
    of(relayer: string): number {
      const value = known.get(relayer) ?? Number(select.get(relayer)?.open_claims ?? 0);
      known.set(relayer, value);
      return value;
    },
    forget: () => known.clear(),
  };
}

function assertMove({ from, to }: Move): void {
  if (from === null || to === null || isStatusMove(from, to)) return;
  throw new Error(`A request may not move from ${from} to ${to}.`);
}

/** Prepares the counters on one connection: gathered in memory, and written once a commit. */
export function prepareCounters(database: DatabaseSync, tables: QuotedTables): Counters {
  const tally = createTally();
  const saveTally = prepareSaveTally(database, tables);
  const sequence = prepareSequence(database, tables);
  const held = prepareHeld(database, tables);

  function forget(): void {
    tally.clear();
    sequence.forget();
    held.forget();
  }

  return {
    nextMove: sequence.next,
    moved(move) {
      assertMove(move);
      tally.note(move);
    },
    lost: tally.noteConflict,
    heldBy: (relayer) => held.of(relayer) + (tally.relayers.get(relayer.toLowerCase())?.open ?? 0),
    save() {
      saveTally(tally);
      const moves = sequence.save();
      forget();
      return moves;
    },
    forget,
  };
}

/** Reads the number of the last move outside the transactions that change it. */
export function readSequence(statement: (sql: string) => StatementSync, { counters }: QuotedTables): number {
  return Number(statement(`SELECT value FROM ${counters} WHERE name = '${SEQUENCE}'`).get()?.value ?? 0);
}
