import { createSharedRateLimits, type SharedRateLimitStore } from '../sql/createSharedRateLimits.ts';
import { readStore } from './createSnapshot.ts';
import type { SqliteContext } from './sqliteContext.ts';

/** Counters that several processes of one machine share through the file. */
export function createRateLimitStore({ database, snapshot, writer, tables }: SqliteContext): SharedRateLimitStore {
  const select = database.prepare(`SELECT hits FROM ${tables.rateLimits} WHERE key = ? AND window = ?`);
  const hitsOf = (key: string, window: number) =>
    Number(readStore(() => snapshot.read(() => select.get(key, window)))?.hits ?? 0);
  return createSharedRateLimits({
    readCounts: (key, window) => ({ current: hitsOf(key, window), previous: hitsOf(key, window - 1) }),
    countHits: (hits) => writer.write('countHits', hits),
  });
}
