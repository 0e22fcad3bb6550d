import type { RelayerStore } from '../../ports/relayerStore.ts';
import { readStore } from './createSnapshot.ts';
import type { SqliteContext } from './sqliteContext.ts';
import { type RelayerRow, relayerOfRow } from './tables.ts';

/** The whitelist in SQLite. */
export function createRelayerStore({ database, snapshot, writer, tables }: SqliteContext): RelayerStore {
  const one = database.prepare(`SELECT * FROM ${tables.relayers} WHERE address = ?`);
  const all = database.prepare(`SELECT * FROM ${tables.relayers} ORDER BY created_at, address`);
  return {
    put: (relayer) => writer.write('putRelayer', relayer),
    async remove(address) {
      await writer.write('removeRelayer', address);
    },
    async find(address) {
      const row = readStore(() => snapshot.read(() => one.get(address))) as unknown as RelayerRow | undefined;
      return row && relayerOfRow(row);
    },
    suspend: (suspension) => writer.write('suspendRelayer', suspension),
    resume: (resumption) => writer.write('suspendRelayer', resumption),
    // The columns are those of RelayerRow.
    list: async () => readStore(() => snapshot.read(() => all.all()) as unknown as RelayerRow[]).map(relayerOfRow),
  };
}
