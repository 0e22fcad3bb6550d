import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TableNames } from '../../src/drivers/sql/tables.ts';
import { openSqliteStores, type SqliteStores } from '../../src/drivers/sqlite/openSqliteStores.ts';
import { createWorkerThread } from '../../src/entry/workerThread/createWorkerThread.ts';
import type { CreateStore } from '../contracts/storeUnderTest.ts';

/** Names of the tables in tests. */
export const TEST_TABLES: TableNames = {
  requests: 'service-requests-test',
  relayers: 'service-relayers-test',
  rateLimits: 'service-ratelimit-test',
};

/** Opens a file as a process does: with a worker thread of its own, which ends when the stores are closed. */
export function openStoresOf(file: string, tables: TableNames): SqliteStores {
  const thread = createWorkerThread();
  const retention = { requestRetentionDays: 0, pendingRetentionDays: 0, now: Date.now };
  const stores = openSqliteStores({ file, tables, thread, ...retention });
  return {
    ...stores,
    async close() {
      await stores.close();
      await thread.close();
    },
  };
}

/** A directory of its own with a database in it. */
export interface SqliteRig {
  readonly file: string;
  /** Opens the file once more, as another process would. */
  open(): SqliteStores;
  /** Closes all that was opened. */
  close(): Promise<void>;
  /** Closes all that was opened and removes the directory. */
  dispose(): Promise<void>;
}

/** Makes a place for a database that does not exist yet. */
export async function createSqliteRig(): Promise<SqliteRig> {
  const directory = await mkdtemp(join(tmpdir(), 'prism-sqlite-'));
  const file = join(directory, 'gateway.db');
  let opened: SqliteStores[] = [];
  async function close(): Promise<void> {
    const closing = opened;
    opened = [];
    await Promise.all(closing.map((stores) => stores.close()));
  }
  return {
    file,
    open() {
      const stores = openStoresOf(file, TEST_TABLES);
      opened.push(stores);
      return stores;
    },
    close,
    async dispose() {
      await close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Makes one of the embedded stores for a contract suite. */
export function sqliteStore<S>(
  select: (stores: SqliteStores) => S,
  catchUp?: (opened: readonly SqliteStores[]) => Promise<void>,
): CreateStore<S> {
  return async () => {
    const rig = await createSqliteRig();
    const opened = [rig.open()];
    const [first] = opened;
    if (first === undefined) throw new Error('it has just been opened');
    return {
      store: select(first),
      ...(catchUp && { catchUp: () => catchUp(opened) }),
      async openPeer() {
        const peer = rig.open();
        opened.push(peer);
        return select(peer);
      },
      cutOff: rig.close,
      dispose: rig.dispose,
    };
  };
}
