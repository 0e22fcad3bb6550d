import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { CommittedMoves } from '../sql/createCounterChanges.ts';
import { enterAt, type MoveNumber } from '../sql/feed.ts';
import type { Row } from '../sql/sqlWrite.ts';
import { createQuery, isCut, isOutdatedPlan, sendTogether } from './connect.ts';
import { sweepActivity } from './saveCounters.ts';
import type { Tables } from './schema.ts';
import { type CommittedChanges, createTransaction, type Transaction } from './transaction.ts';
import {
  createRunAlone,
  isTogether,
  runTogether,
  type TogetherOrder,
  type WriteKind,
  type WriteOrder,
  type WriteResult,
  type Writes,
} from './writes.ts';

export interface Writer {
  /** Names this process in what it commits. */
  readonly process: string;
  /** Resolves once the write is committed. @throws DependencyUnavailableError */
  write<K extends WriteKind>(kind: K, input: Writes[K]['input']): Promise<Writes[K]['result']>;
  /** Calls a listener with each transaction that has moved requests, before any write of it is acknowledged. */
  onCommitted(listener: (changes: CommittedChanges) => void): void;
  /** Finishes what was ordered. */
  close(): Promise<void>;
}

interface WriterOptions {
  readonly connect: () => Promise<pg.Client>;
  readonly tables: Tables;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Waiting {
  readonly order: WriteOrder;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: Error) => void;
}

/** Most orders of one transaction, and most bytes of params, which bound how long any of them waits. */
const [MAX_ORDERS, MAX_BYTES] = [256, 8 * 1024 * 1024];
/** How long the outcome of a commit is looked up whose answer was lost, in milliseconds; a caller waits for no longer. */
const LOOK_UP_MS = 8000;
const LOOK_UP_PAUSE_MS = 250;
/** Payload of a notification in bytes; PostgreSQL takes less than 8,000. */
const MAX_PAYLOAD = 7000;
/** How often a process looks for old minutes and for commits of processes that are gone. */
const SWEEP_MS = 600_000;
const FORGET_COMMITS_MS = 86_400_000;

const unavailable = (cause: unknown) => new DependencyUnavailableError('store', { cause });

/** Classes of SQLSTATE in which one order is at fault: data that do not fit, or a broken rule. */
const isFaultOfOrder = (error: unknown) => error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '');

/** A commit of which it is not known whether it came through. */
class LostAnswerError extends Error {
  override readonly name = 'LostAnswerError';
}

const bytesOf = ({ kind, input }: WriteOrder) => (kind === 'create' ? input.record.paramsJson.length : 0);

/** Takes from the head of the queue what shares a transaction. */
function takeBatch(queue: Waiting[]): Waiting[] {
  let bytes = 0;
  const end = queue.findIndex(({ order }, i) => {
    bytes += bytesOf(order);
    return i > 0 && (!isTogether(order) || i === MAX_ORDERS || bytes > MAX_BYTES);
  });
  const first = queue[0];
  if (first !== undefined && !isTogether(first.order)) return queue.splice(0, 1);
  return queue.splice(0, end === -1 ? queue.length : end);
}

/** Writes what is announced to the other processes; what is too long is announced without names. */
function payloadOf(process: string, { moves, requestIds, chainNames }: CommittedChanges): string {
  const whole = JSON.stringify({ process, ...moves, requestIds, chainNames });
  return Buffer.byteLength(whole) <= MAX_PAYLOAD ? whole : JSON.stringify({ process, ...moves });
}

/**
 * Writes on one connection. All that waits shares one transaction, and so one wait for the disk and the standby; meanwhile the next
 * gathers. Its statements are sent in two parts, each without waiting for answers: all that is read, then all that is written and the
 * commit. Each transaction first locks the one row of `counters`, so that of all processes one writes at a time: commits have an order, in
 * which moves are numbered, and what a transaction has read stands still until it has written.
 *
 * A commit leaves its number in `commits`. If its answer is lost, that shows whether it came through.
 */
export function createWriter({ connect, tables, now }: WriterOptions): Writer {
  const process = randomUUID();
  const listeners: ((changes: CommittedChanges) => void)[] = [];
  const runAlone = createRunAlone(tables);
  const queue: Waiting[] = [];
  let client: pg.Client | undefined;
  /** Whether a move was committed on this connection. Each may be one to a server that was put back. */
  let hasBegun = false;
  /** Number of the last commit that was tried. */
  let number = 0;
  let running: Promise<void> | undefined;
  let isClosed = false;
  let sweptAt = 0;

  // Planned once: of short statements the plan is most of what they cost.
  const prepare = `
    PREPARE list_webhooks AS SELECT * FROM ${tables.webhooks} WHERE enabled = 1;
    PREPARE lock_moves AS SELECT value FROM ${tables.counters} WHERE name = 'sequence' FOR UPDATE;
    PREPARE set_number AS UPDATE ${tables.counters} SET value = $2 WHERE name = $1;
    PREPARE note_commit AS INSERT INTO ${tables.commits} VALUES ('${process}', $1, $2)
      ON CONFLICT (process) DO UPDATE SET number = excluded.number, at = excluded.at`;
  const begin = `BEGIN; EXECUTE lock_moves; EXECUTE list_webhooks`;
  // A timeout that ends the wait for a standby would have PostgreSQL say that it is committed.
  const end = (changes: CommittedChanges | undefined) => `
    SET LOCAL statement_timeout = 0;
    ${changes === undefined ? '' : setNumbers(changes.moves)}
    EXECUTE note_commit(${number}, ${now()});
    ${changes === undefined ? '' : `NOTIFY ${tables.channel}, ${pg.escapeLiteral(payloadOf(process, changes))};`}
    COMMIT`;

  function setNumbers({ after, last, count }: CommittedMoves): string {
    const set = (name: MoveNumber, value: number) => `EXECUTE set_number('${name}', ${value});`;
    const gap = hasBegun ? '' : set('left', after) + set('entered', last - count);
    return gap + set('sequence', last);
  }

  async function connectOnce(): Promise<pg.Client> {
    if (client !== undefined) return client;
    const fresh = await connect();
    try {
      await fresh.query(prepare);
    } catch (error) {
      await fresh.end().catch(() => undefined);
      throw error;
    }
    client = fresh;
    hasBegun = false;
    fresh.on('end', () => {
      if (client === fresh) client = undefined;
    });
    return fresh;
  }

  async function dropClient(): Promise<void> {
    const old = client;
    client = undefined;
    await old?.end().catch(() => undefined);
  }

  async function beginTransaction(own: pg.Client, tx: Transaction): Promise<void> {
    // Several statements in one call: one answer for each.
    const answers = (await own.query(begin)) as unknown as readonly { readonly rows: readonly Row[] }[];
    const [, counter, webhooks] = answers;
    const value = counter?.rows[0]?.value;
    if (value === undefined) throw new Error('The counter of moves is missing.');
    const sequence = Number(value);
    const from = hasBegun ? sequence : enterAt(sequence, now());
    tx.begin({ sequence, from, webhooks: webhooks?.rows ?? [] });
  }

  /** Sends the writes and the commit at once, and finds out whether that came through if the answer is lost. */
  async function commit(own: pg.Client, tx: Transaction): Promise<CommittedChanges | undefined> {
    number++;
    const { changes, written, committed } = sendTogether(own, () => {
      const saving = tx.save();
      return { ...saving, committed: own.query(end(saving.changes)) };
    });
    const [write, ended] = await Promise.allSettled([written, committed]);
    if (ended.status === 'fulfilled') return changes;
    // A statement that is refused ends the transaction, and the commit is refused with it.
    const cause: unknown = write.status === 'rejected' ? write.reason : ended.reason;
    if (ended.reason instanceof pg.DatabaseError && ended.reason.severity !== 'FATAL') throw cause;
    await dropClient();
    if (!(await cameThrough(number))) throw cause;
    return changes;
  }

  /** @throws LostAnswerError if nobody answers */
  async function cameThrough(wanted: number): Promise<boolean> {
    const until = performance.now() + LOOK_UP_MS;
    for (;;) {
      try {
        const own = await connectOnce();
        // Behind the lock the old transaction has ended, in whichever way.
        await own.query(begin);
        const { rows } = await own.query(`SELECT number FROM ${tables.commits} WHERE process = '${process}'`);
        await own.query('ROLLBACK');
        return Number(rows[0]?.number ?? 0) === wanted;
      } catch (cause) {
        await dropClient();
        if (performance.now() > until)
          throw new LostAnswerError('It is not known whether a commit came through.', { cause });
        await new Promise((resolve) => setTimeout(resolve, LOOK_UP_PAUSE_MS));
      }
    }
  }

  async function runOrders(tx: Transaction, begun: Promise<void>, batch: readonly Waiting[]) {
    const orders = batch.map(({ order }) => order);
    const [first] = orders;
    // All of a batch are of this kind, as `takeBatch` makes it.
    if (first === undefined || isTogether(first))
      return await runTogether(tx, begun, orders as readonly TogetherOrder[]);
    await begun;
    return [await runAlone(tx, first)];
  }

  async function transact(own: pg.Client, batch: readonly Waiting[]): Promise<void> {
    const tx = createTransaction({ query: createQuery(own), tables });
    const results = await sendTogether(own, () => runOrders(tx, beginTransaction(own, tx), batch));
    if (now() - sweptAt > SWEEP_MS) await sweep(tx);
    const changes = await commit(own, tx);
    if (changes !== undefined) hasBegun = true;
    if (changes !== undefined) for (const listener of listeners) listener(changes);
    for (const [i, { resolve }] of batch.entries()) resolve(results[i]);
  }

  async function sweep({ query }: Transaction): Promise<void> {
    sweptAt = now();
    await sweepActivity(query, tables, sweptAt);
    await query(`DELETE FROM ${tables.commits} WHERE at < $1`, [sweptAt - FORGET_COMMITS_MS]);
  }

  /** Takes a transaction that failed back; a connection on which that cannot be done is given up. */
  async function rollBack(own: pg.Client): Promise<void> {
    if (client !== own) return;
    await own.query('ROLLBACK').catch(dropClient);
  }

  async function runBatch(batch: readonly Waiting[], isAgain = false): Promise<void> {
    let own: pg.Client;
    try {
      own = await connectOnce();
    } catch (cause) {
      // Who came meanwhile would wait for the next attempt to connect, one behind the other.
      for (const { reject } of [...batch, ...queue.splice(0)]) reject(unavailable(cause));
      return;
    }
    try {
      await transact(own, batch);
    } catch (cause) {
      // Nothing of it was committed.
      const isElsewhere = isOutdatedPlan(cause) || (isCut(own, cause) && !(cause instanceof LostAnswerError));
      if (isElsewhere && client === own) await dropClient();
      if (isElsewhere && !isAgain) return await runBatch(batch, true);
      await rollBack(own);
      // Each in its own, so that one bad order harms no other.
      if (batch.length > 1 && isFaultOfOrder(cause)) for (const one of batch) await runBatch([one]);
      else for (const { reject } of batch) reject(unavailable(cause));
    }
  }

  async function runAll(): Promise<void> {
    while (queue.length > 0) await runBatch(takeBatch(queue));
    running = undefined;
  }

  /** Runs the orders of one turn of the event loop in one transaction. */
  async function runSoon(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    await runAll();
  }

  return {
    process,
    write(kind, input) {
      if (isClosed) return Promise.reject(unavailable(new Error('the store is closed')));
      return new Promise((resolve, reject) => {
        // `kind` and `input` belong together by this function's own type, and so does the result.
        const order = { kind, input } as WriteOrder;
        queue.push({ order, resolve: resolve as Waiting['resolve'], reject });
        running ??= runSoon();
      });
    },
    onCommitted: (listener) => void listeners.push(listener),
    async close() {
      isClosed = true;
      await running;
      await dropClient();
    },
  };
}
