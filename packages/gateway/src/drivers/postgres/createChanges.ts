import type pg from 'pg';
import { createWatchers } from '../../ports/createWatchers.ts';
import type { RequestChanges } from '../../ports/requestChanges.ts';
import type { Row } from '../sql/sqlWrite.ts';
import type { Query } from './connect.ts';
import type { Tables } from './schema.ts';
import type { CommittedChanges } from './transaction.ts';

export interface PostgresChanges extends RequestChanges {
  /** Called after each commit of this process, before any write of it is acknowledged. */
  committed(changes: CommittedChanges): void;
  close(): Promise<void>;
}

interface ChangesOptions {
  readonly connect: () => Promise<pg.Client>;
  readonly read: Query;
  readonly tables: Tables;
  /** Names this process in what it commits. */
  readonly process: string;
}

/** How often the number of the last move is read while somebody waits, in milliseconds: a notification may be lost. */
const POLL_MS = 1000;

/** A notification; names are absent if they did not fit. */
interface Notification extends Partial<Pick<CommittedChanges, 'requestIds' | 'chainNames'>> {
  readonly process: string;
  readonly after: number;
  readonly last: number;
}

/** Numbers of moves that have been announced, in whatever order. */
function createSeenMoves() {
  /** All up to here have been. */
  let whole = 0;
  let ranges: { readonly after: number; readonly last: number }[] = [];
  return {
    add(range: { readonly after: number; readonly last: number }): void {
      ranges.push(range);
      ranges.sort((one, other) => one.after - other.after);
      for (const { after, last } of ranges) if (after <= whole) whole = Math.max(whole, last);
      ranges = ranges.filter(({ after }) => after > whole);
    },
    /** @returns whether something up to a number has not been announced; it counts as announced from now on */
    lacks(upTo: number): boolean {
      if (whole >= upTo) return false;
      whole = upTo;
      ranges = ranges.filter(({ after }) => after > whole);
      return true;
    },
  };
}

/**
 * Announces moves in a database. What this process moves it announces itself; the others' come by `LISTEN`. Each second the number of the last
 * move is looked at: if one was announced to nobody, everybody looks, and the process listens anew.
 */
export function createChanges({ connect, read, tables, process }: ChangesOptions): PostgresChanges {
  const watchers = createWatchers();
  const seen = createSeenMoves();
  let listener: pg.Client | undefined;
  let connecting = false;
  let timer: NodeJS.Timeout | undefined;
  /** The position up to which the last poll read: everything before it has had a second to be announced. */
  let before = 0;
  /** Whether a look has failed: what it was for has been announced to nobody. */
  let isOwed = false;
  let isClosed = false;

  async function readStatuses(ids: readonly string[]): Promise<readonly Row[]> {
    if (ids.length === 0) return [];
    const sql = `SELECT request_id, status FROM ${tables.requests} WHERE request_id = ANY($1::uuid[])`;
    return await read(sql, [ids]).catch((error: unknown) => {
      isOwed = true;
      throw error;
    });
  }

  async function lookUp(): Promise<void> {
    const rows = await readStatuses(watchers.requestIds());
    const statuses = new Map(rows.map(({ request_id: id, status }) => [id, status]));
    watchers.lookUp((requestId) => statuses.get(requestId));
  }

  function wake({ requestIds, chainNames }: Pick<CommittedChanges, 'requestIds' | 'chainNames'>): void {
    for (const requestId of requestIds) watchers.moved(requestId);
    for (const chainName of chainNames) watchers.appeared(chainName);
  }

  function hear(payload: string | undefined): void {
    // Written by this database's gateways.
    const { process: from, requestIds, chainNames, ...range }: Notification = JSON.parse(payload ?? '{}');
    if (from === process) return;
    seen.add(range);
    if (requestIds !== undefined && chainNames !== undefined) wake({ requestIds, chainNames });
    else void lookUp().catch(() => undefined);
  }

  async function listen(): Promise<void> {
    if (listener !== undefined || connecting || isClosed) return;
    connecting = true;
    try {
      const client = await connect();
      client.on('end', () => {
        if (listener === client) listener = undefined;
      });
      client.on('notification', ({ payload }) => hear(payload));
      await client.query(`LISTEN ${tables.channel}`);
      listener = client;
      if (isClosed) await client.end();
    } finally {
      connecting = false;
    }
  }

  async function poll(): Promise<void> {
    await listen().catch(() => undefined);
    const [row] = await read(`SELECT value FROM ${tables.counters} WHERE name = 'sequence'`);
    const missed = seen.lacks(before);
    before = Number(row?.value ?? 0);
    if (missed) {
      // It may hear nothing any more, and never learn of it.
      const deaf = listener;
      listener = undefined;
      void deaf?.end().catch(() => undefined);
    }
    const again = isOwed;
    isOwed = false;
    if (missed || again) await lookUp();
  }

  function follow(): void {
    if (timer !== undefined || isClosed) return;
    void listen().catch(() => undefined);
    // Those who wait read it themselves in the end, and get the store's error.
    timer = setInterval(() => void poll().catch(() => undefined), POLL_MS).unref();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    watch(interest, onChange) {
      follow();
      const remove = watchers.watch(interest, onChange);
      return () => {
        remove();
        if (watchers.isEmpty()) stop();
      };
    },
    committed(changes) {
      seen.add(changes.moves);
      wake(changes);
    },
    async close() {
      isClosed = true;
      stop();
      await listener?.end().catch(() => undefined);
    },
  };
}
