import type { RelayerStore } from '../../ports/relayerStore.ts';
import { readStore } from './createSnapshot.ts';
import type { SqliteContext } from './sqliteContext.ts';
import { type RelayerRow, relayerOfRow } from './tables.ts';

/** The whitelist in SQLite. */
export function createRelayerStore({ database, snapshot, writer, tables }: SqliteContext): RelayerStore {
  const has = database.prepare(`SELECT 1 FROM ${tables.relayers} WHERE address = ?`);
  const all = database.prepare(`SELECT * FROM ${tables.relayers} ORDER BY created_at, address`);
  return {
    put: (relayer) => writer.write('putRelayer', relayer),
    async remove(address) {
      await writer.write('removeRelayer', address);
    },
    has: async (address) => readStore(() => snapshot.read(() => has.get(address))) !== undefined,
    // The columns are those of RelayerRow.
    list: async () => readStore(() => snapshot.read(() => all.all()) as unknown as RelayerRow[]).map(relayerOfRow),
  };
}
