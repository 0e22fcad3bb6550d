import type { WindowCounts } from '../../ports/rateLimitStore.ts';
import { createSharedRateLimits, type SharedRateLimitStore, type UnsentHits } from '../sql/createSharedRateLimits.ts';
import type { PostgresContext } from './postgresContext.ts';

/** Counters that several processes share through the database; they need no order among the writes of the queue. */
export function createRateLimitStore({ read, tables }: PostgresContext): SharedRateLimitStore {
  const table = tables.rateLimits;
  let sweptAt = 0;

  /** Forgets windows that count no more. Later ones than the next are those of a clock that was ahead and has been set back. */
  async function sweep(newest: number): Promise<void> {
    if (newest === sweptAt) return;
    sweptAt = newest;
    await read(`DELETE FROM ${table} WHERE "window" NOT BETWEEN $1 AND $2`, [newest - 1, newest + 1]);
  }

  /** In one order of keys in every process, so that no two wait for each other. */
  async function add(hits: readonly UnsentHits[]): Promise<void> {
    const sums = new Map<string, UnsentHits>();
    for (const one of hits) {
      const place = `${one.window} ${one.key}`;
      sums.set(place, { ...one, hits: one.hits + (sums.get(place)?.hits ?? 0) });
    }
    const sorted = [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
    await read(
      `INSERT INTO ${table} AS t SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
       ON CONFLICT (key, "window") DO UPDATE SET hits = t.hits + excluded.hits`,
      [sorted.map(({ key }) => key), sorted.map(({ window }) => window), sorted.map((one) => one.hits)],
    );
  }

  async function readAll(places: readonly { readonly key: string; readonly window: number }[]) {
    const keys = [...new Set(places.map(({ key }) => key))];
    const rows = await read(`SELECT key, "window", hits FROM ${table} WHERE key = ANY($1)`, [keys]);
    const hits = new Map(rows.map((row) => [`${row.window} ${row.key}`, Number(row.hits)]));
    const hitsOf = (key: string, window: number) => hits.get(`${window} ${key}`) ?? 0;
    return places.map(
      ({ key, window }): WindowCounts => ({ current: hitsOf(key, window), previous: hitsOf(key, window - 1) }),
    );
  }

  return createSharedRateLimits({
    async readCounts(key, window) {
      const [counts] = await readAll([{ key, window }]);
      return counts ?? { current: 0, previous: 0 };
    },
    async countHits(hits) {
      await sweep(hits.reduce((latest, { window }) => Math.max(latest, window), 0));
      await add(hits);
      return await readAll(hits);
    },
  });
}
