import pg from 'pg';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { Row } from '../sql/sqlWrite.ts';

/** Where the database is, and how much of it a process takes. */
export interface DatabaseOptions {
  /** A connection string; several hosts with commas between, of which the one that takes writes is used. */
  readonly url: string;
  /** Most connections for reading; each process takes two more, for writing and for listening. */
  readonly poolSize: number;
}

/** Runs a statement, prepared under its own text. @returns its rows */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** The database as one process reaches it. */
export interface Database {
  /** Reads by one of the pool's connections. @throws DependencyUnavailableError */
  readonly read: Query;
  /** Opens a connection of its own to the host that takes writes. @throws the driver's own errors */
  connect(): Promise<pg.Client>;
  close(): Promise<void>;
}

/** How long a connection, a free place in the pool, a statement and a lock are waited for, in milliseconds. */
const TIMEOUTS = {
  connectionTimeoutMillis: 3000,
  statement_timeout: 5000,
  query_timeout: 6000,
  lock_timeout: 4000,
  // A process that is stopped in the middle of its transaction holds up the others for no longer.
  idle_in_transaction_session_timeout: 5000,
} as const;

/** A host that has lost its power ends no connection: one that waits finds out after some 20 s instead of two hours. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

const { INT8, INT4 } = pg.types.builtins;
/** Times, counts and numbers of moves are exact far below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number) => (oid === INT8 || oid === INT4 ? Number : pg.types.getTypeParser(oid, 'text')),
};

/** How long a server is waited for that was told of the end of a connection, in milliseconds. */
const END_MS = 2000;

/** A connection that ends also if the server is silent. */
class Client extends pg.Client {
  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    const cut = setTimeout(() => this.connection.stream.destroy(), END_MS).unref();
    this.once('end', () => clearTimeout(cut));
    return callback === undefined ? super.end() : super.end(callback);
  }
}

/** Writes a connection string for each host that one names. @example `postgres://app@a,b:5433/prism` */
export function splitHosts(url: string): readonly string[] {
  const [, before, hosts, after] = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]+)(.*)$/.exec(url) ?? [];
  if (before === undefined || hosts === undefined) return [url];
  return hosts.split(',').map((host) => `${before}${host}${after}`);
}

/** Where a database is, without who enters it. */
export const hostOf = (url: string) => url.replace(/^.*?:\/\/(?:[^@/]*@)?/, '').replace(/\?.*$/, '');

const translated = new Map<string, string>();
/** Writes SQL that both SQL stores share in the words of this one. */
export function translate(sql: string): string {
  const known = translated.get(sql);
  if (known !== undefined) return known;
  const own = sql.replaceAll(/\?(\d+)/g, '$$$1');
  translated.set(sql, own);
  return own;
}

/** Names of prepared statements, by their text. */
const statementNames = new Map<string, string>();

/** Makes the function that runs statements on one connection, each prepared once. */
export function createQuery(client: pg.Client | pg.PoolClient): Query {
  return async function query(sql, values = []) {
    const name = statementNames.get(sql) ?? `s${statementNames.size}`;
    statementNames.set(sql, name);
    return (await client.query({ name, text: sql, values: [...values] })).rows;
  };
}

/** Whether a prepared statement is refused for good on its connection: a later version has added a column meanwhile. */
export const isOutdatedPlan = (error: unknown) => error instanceof pg.DatabaseError && error.code === '0A000';

/** Whether a statement failed because the server or the network has ended its connection: another one may carry it out. */
export function isCut(client: pg.Client | pg.PoolClient, error: unknown): boolean {
  // Clients of a pool are of this class too.
  const { stream } = (client as pg.Client).connection;
  const hasEnded = stream.readableEnded || stream.errored !== null;
  return hasEnded || (error instanceof pg.DatabaseError && error.severity === 'FATAL');
}

/** Has the statements that a function sends travel together: one call of the system, and one waking of the server. */
export function sendTogether<T>({ connection: { stream } }: pg.Client, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/**
 * Statements are planned while tables are small, and their plans kept: they have to be those that serve large tables, which walk indexes, and one for
 * all values: PostgreSQL would plan some statements anew each time.
 * Without this a new database is slower with every request, until PostgreSQL analyzes its tables.
 */
const PLANS = `SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
  SET plan_cache_mode = force_generic_plan;`;

/** Encodings that hold every character that clients send. The others refuse the whole transaction that has one they lack. */
const ENCODINGS: readonly unknown[] = ['UTF8', 'SQL_ASCII'];

/** Prepares a connection that was just made. A standby answers reads, and would answer with the past. */
async function prepareSession(client: pg.ClientBase): Promise<void> {
  // Several statements in one call: one answer for each.
  const answers = (await client.query(
    `${PLANS} SELECT pg_is_in_recovery() AS is_standby, current_setting('server_encoding') AS encoding`,
  )) as unknown as pg.QueryResult[];
  const { is_standby: isStandby, encoding } = answers.at(-1)?.rows[0] ?? {};
  if (isStandby === true) throw new Error('The host is a standby, which takes no writes.');
  if (!ENCODINGS.includes(encoding)) {
    const advice = "Make one by: CREATE DATABASE prism ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0";
    throw new Error(`The database has the encoding ${encoding}, which lacks characters that clients send. ${advice}`);
  }
}

const unavailable = (cause: unknown) => new DependencyUnavailableError('store', { cause });

/** Reaches the database of a connection string; nothing is connected before it is needed. */
export function openPostgres({ url, poolSize }: DatabaseOptions): Database {
  const hosts = splitHosts(url);
  /** The host that took writes last. */
  let current = 0;

  const configOf = (host: number) => ({ connectionString: hosts[host] ?? url, types, ...KEEP_ALIVE, ...TIMEOUTS });

  async function connectTo(host: number): Promise<pg.Client> {
    // Statements are sent without waiting for the answers of those before.
    const client = new Client({ ...configOf(host), pipeline: true });
    // Whoever uses the connection learns of its end by the next statement.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await prepareSession(client);
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  async function connect(): Promise<pg.Client> {
    let fault: unknown;
    for (let i = 0; i < hosts.length; i++) {
      const host = (current + i) % hosts.length;
      try {
        const client = await connectTo(host);
        current = host;
        return client;
      } catch (error) {
        fault = error;
      }
    }
    throw fault;
  }

  const pool = new pg.Pool({
    ...configOf(0),
    max: poolSize,
    // Of several hosts the one that took writes last.
    Client: class extends Client {
      constructor() {
        super(configOf(current));
      }
    },
    verify: (client: pg.PoolClient, done: (error?: Error) => void) => {
      prepareSession(client).then(() => done(), done);
    },
  } as pg.PoolConfig);
  pool.on('error', () => undefined);

  async function findPrimary(): Promise<void> {
    const client = await connect();
    await client.end();
  }

  /** @param others - how many more of the pool's connections may have ended, or be outdated, as this one */
  async function readBy(others: number, ...[sql, values]: Parameters<Query>): ReturnType<Query> {
    const client = await pool.connect();
    try {
      const rows = await createQuery(client)(sql, values);
      client.release();
      return rows;
    } catch (error) {
      const isAgain = others > 0 && (isOutdatedPlan(error) || isCut(client, error));
      // What the server has not answered blocks its connection, which nobody may get again.
      client.release(isAgain || !(error instanceof pg.DatabaseError) || isOutdatedPlan(error));
      if (!isAgain) throw error;
    }
    return await readBy(others - 1, sql, values);
  }

  return {
    connect,
    async read(sql, values) {
      try {
        return await readBy(poolSize, sql, values);
      } catch (cause) {
        if (hosts.length > 1) void findPrimary().catch(() => undefined);
        throw unavailable(cause);
      }
    },
    close: () => pool.end(),
  };
}
