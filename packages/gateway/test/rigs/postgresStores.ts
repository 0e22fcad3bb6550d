import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { openPostgresStores, type PostgresStores } from '../../src/drivers/postgres/openPostgresStores.ts';
import { type EmbeddedServer, startEmbedded } from '../../src/drivers/postgres/startEmbedded.ts';
import type { RetentionOptions } from '../../src/drivers/sql/createRetention.ts';
import type { CreateStore } from '../contracts/storeUnderTest.ts';
import { TEST_TABLES } from './sqliteStores.ts';

/** Data of tests need not survive a power cut. */
const QUICK = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=400'];

let server: Promise<EmbeddedServer> | undefined;

/** Starts a server of its own, which ends with this process. */
export async function startTestServer(flags: readonly string[] = QUICK): Promise<EmbeddedServer> {
  // The temporary folder of a test file goes with it, and the server serves the next one too.
  const folder = await mkdtemp(join(dirname(tmpdir()), 'prism-postgres-test-'));
  return await startEmbedded({ folder, flags, isTemporary: true });
}

/** A database of its own on the server that all tests of this process share. */
export interface PostgresRig {
  readonly url: string;
  /** Opens it once more, as another process would. */
  open(): Promise<PostgresStores>;
  /** Runs a statement as no call does. */
  query(sql: string): Promise<pg.QueryResult['rows']>;
  /** Closes all that was opened. */
  close(): Promise<void>;
}

let databases = 0;

async function queryOn(url: string, sql: string): Promise<pg.QueryResult['rows']> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Opens the stores of a database; what is not given is as a gateway has it by default. */
export const openStoresOf = (url: string, options: Partial<RetentionOptions> = {}) =>
  openPostgresStores({
    ...{ url, poolSize: 4, tables: TEST_TABLES },
    ...{ requestRetentionDays: 0, pendingRetentionDays: 0, now: Date.now, ...options },
  });

/** Makes a database that nothing is in yet. @param options - of CREATE DATABASE */
export async function createPostgresRig(options = ''): Promise<PostgresRig> {
  server ??= startTestServer();
  const { url: first } = await server;
  const name = `test_${++databases}`;
  await queryOn(first, `CREATE DATABASE ${name} ${options}`);
  const url = first.replace(/[^/]+$/, name);
  let opened: PostgresStores[] = [];
  return {
    url,
    async open() {
      const stores = await openStoresOf(url);
      opened.push(stores);
      return stores;
    },
    query: (sql) => queryOn(url, sql),
    async close() {
      const closing = opened;
      opened = [];
      await Promise.all(closing.map((stores) => stores.close()));
    },
  };
}

/** Makes one of the stores for a contract suite. */
export function postgresStore<S>(select: (stores: PostgresStores) => S, flushes = false): CreateStore<S> {
  return async () => {
    const rig = await createPostgresRig();
    const opened = [await rig.open()];
    const open = async () => {
      const stores = await rig.open();
      opened.push(stores);
      return select(stores);
    };
    const [first] = opened;
    if (first === undefined) throw new Error('it has just been opened');
    return {
      store: select(first),
      ...(flushes && {
        async catchUp() {
          for (const { rateLimits } of opened) await rateLimits.flush();
        },
      }),
      openPeer: open,
      cutOff: rig.close,
      dispose: rig.close,
    };
  };
}
