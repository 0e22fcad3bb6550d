import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isStatusMove, type RequestStatus } from '@prism-gateway/protocol/states';
import type { QuotedTables } from './tables.ts';

/** Moves of one commit, by their numbers: those after `after`, up to `last`. */
export interface CommittedMoves {
  readonly after: number;
  readonly last: number;
}

/** Numbers that change in the transactions in which the records do. */
export interface Counters {
  /** Counts a record that is new (from null), has moved, or is gone (to null). @throws Error for a move that the table of moves has not */
  move(from: RequestStatus | null, to: RequestStatus | null): void;
  /** The number of the next move: they rise in the order of the commits, over all processes, and none is given twice. */
  nextMove(): number;
  /** Counts what a relayer holds. */
  hold(relayer: string, by: 1 | -1): void;
  /** How many requests a relayer holds. */
  heldBy(relayer: string): number;
  /** Writes them; to be called before the commit. @returns the transaction's moves, if there are any */
  save(): CommittedMoves | undefined;
  /** Drops what a transaction that failed has counted. */
  forget(): void;
}

const SEQUENCE = 'sequence';
const openOf = (relayer: string) => `open:${relayer.toLowerCase()}`;

/** Prepares the counters on one connection. */
export function prepareCounters(database: DatabaseSync, { counters: table }: QuotedTables): Counters {
  const select = database.prepare(`SELECT value FROM ${table} WHERE name = ?`);
  const upsert = database.prepare(
    `INSERT INTO ${table} VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value`,
  );
  const deltas = new Map<string, number>();
  /** As they were when the transaction began. */
  const known = new Map<string, number>();
  const add = (name: string, by: number) => deltas.set(name, (deltas.get(name) ?? 0) + by);

  function readValue(name: string): number {
    const value = known.get(name) ?? Number(select.get(name)?.value ?? 0);
    known.set(name, value);
    return value + (deltas.get(name) ?? 0);
  }

  function forget(): void {
    deltas.clear();
    known.clear();
  }

  return {
    move(from, to) {
      if (from !== null && to !== null && !isStatusMove(from, to)) {
        throw new Error(`A request may not move from ${from} to ${to}.`);
      }
      if (from !== null) add(`status:${from}`, -1);
      if (to !== null) add(`status:${to}`, 1);
    },
    nextMove() {
      add(SEQUENCE, 1);
      return readValue(SEQUENCE);
    },
    hold: (relayer, by) => add(openOf(relayer), by),
    heldBy: (relayer) => readValue(openOf(relayer)),
    save() {
      for (const [name, by] of deltas) if (by !== 0) upsert.run(name, by);
      const last = readValue(SEQUENCE);
      const moves = deltas.get(SEQUENCE) ?? 0;
      forget();
      return moves === 0 ? undefined : { after: last - moves, last };
    },
    forget,
  };
}

/** Reads a counter outside the transactions that change it. @param name - `sequence`, or `status:` and a status */
export function readCounter(
  statement: (sql: string) => StatementSync,
  { counters }: QuotedTables,
  name: typeof SEQUENCE | `status:${RequestStatus}`,
): number {
  return Number(statement(`SELECT value FROM ${counters} WHERE name = ?`).get(name)?.value ?? 0);
}
