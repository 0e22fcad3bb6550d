import type { DatabaseSync } from 'node:sqlite';
import {
  type Activity,
  type ActPage,
  type AdminStore,
  type ChainCounts,
  HOUR_MS,
  KEPT_HOURS,
  KEPT_MINUTES,
  MAX_TOLD_RELAYERS,
  MINUTE_MS,
  type QueueStats,
  quantileOf,
  type RelayerStats,
} from '../../ports/adminStore.ts';
import { readStore } from './createSnapshot.ts';
import type { SqliteContext } from './sqliteContext.ts';
import type { QuotedTables } from './tables.ts';

function prepareRead(database: DatabaseSync, t: QuotedTables) {
  const all = database.prepare(
    `SELECT * FROM ${t.chains} ORDER BY chain_name = '', pending + processing DESC, chain_name`,
  );
  const oldest = database.prepare(`SELECT min(created_at) AS at FROM ${t.requests} WHERE status = ?`);
  const oldestOf = database.prepare(
    `SELECT min(created_at) AS at FROM ${t.requests} WHERE chain_name = ? AND status = 'pending'`,
  );
  const since = database.prepare(`SELECT * FROM ${t.activity} WHERE period = ? AND start > ? ORDER BY start`);
  const seen = database.prepare(
    `SELECT * FROM ${t.relayerStats} ORDER BY last_seen_at DESC LIMIT ${MAX_TOLD_RELAYERS}`,
  );
  const acts = database.prepare(`SELECT * FROM ${t.audit} WHERE number < ? ORDER BY number DESC LIMIT ?`);
  return {
    chains: () => all.all(),
    oldest: (status: string) => oldest.get(status)?.at,
    oldestPendingOf: (chainName: string) => oldestOf.get(chainName)?.at,
    activity: (period: number, after: number) => since.all(period, after),
    relayers: () => seen.all(),
    acts: (before: number, limit: number) => acts.all(before, limit),
  };
}

type Row = Readonly<Record<string, unknown>>;

function readChain({ chain_name, pending, processing, success, failed }: Row): ChainCounts {
  const chainName = chain_name === '' ? null : String(chain_name);
  const [p, c, s, f] = [pending, processing, success, failed].map(Number) as [number, number, number, number];
  return { chainName, pending: p, processing: c, success: s, failed: f };
}

const readActivity = ({ start, posts, claims, success, failed }: Row): Activity => ({
  ...{ start: Number(start), posts: Number(posts), claims: Number(claims) },
  ...{ success: Number(success), failed: Number(failed) },
});

function readRelayer(row: Row): RelayerStats {
  const buckets: { [bucket: string]: number } = JSON.parse(String(row.durations));
  const histogram = new Map(Object.entries(buckets).map(([bucket, hits]) => [Number(bucket), hits]));
  const [medianMs, p95Ms] = [quantileOf(histogram, 0.5), quantileOf(histogram, 0.95)];
  return {
    ...{ address: String(row.address), openClaims: Number(row.open_claims), success: Number(row.success) },
    ...{ failed: Number(row.failed), conflicts: Number(row.conflicts), lastSeenAt: Number(row.last_seen_at) },
    ...(medianMs !== undefined && { medianMs }),
    ...(p95Ms !== undefined && { p95Ms }),
  };
}

function readActs(rows: readonly Row[], limit: number): ActPage {
  const items = rows.map(({ at, act, key_id, target, reason }) => ({
    ...{ at: Number(at), act: String(act), keyId: String(key_id), target: String(target) },
    ...(reason !== null && { reason: String(reason) }),
  }));
  return { items, next: rows.length < limit ? null : Number(rows.at(-1)?.number) };
}

const hasRecords = ({ pending, processing, success, failed }: ChainCounts) =>
  pending + processing + success + failed > 0;

/** What administrators do, in SQLite. */
export function createAdminStore({ database, snapshot, writer, changes, tables }: SqliteContext): AdminStore {
  const read = prepareRead(database, tables);
  function readStats(now: number): QueueStats {
    const [pending, processing] = [read.oldest('pending'), read.oldest('processing')];
    return {
      chains: read.chains().map(readChain).filter(hasRecords),
      ...(typeof pending === 'number' && { oldestPendingAt: pending }),
      ...(typeof processing === 'number' && { oldestProcessingAt: processing }),
      minutes: read.activity(MINUTE_MS, now - KEPT_MINUTES * MINUTE_MS).map(readActivity),
      hours: read.activity(HOUR_MS, now - KEPT_HOURS * HOUR_MS).map(readActivity),
      relayers: read.relayers().map(readRelayer),
    };
  }
  return {
    readStats: async (now) => readStore(() => snapshot.read(() => readStats(now))),
    async findOldestPending(chainName) {
      const at = readStore(() => snapshot.read(() => read.oldestPendingOf(chainName)));
      return typeof at === 'number' ? at : undefined;
    },
    async remove(requestId) {
      const removal = await writer.write('removeRequest', requestId);
      // Who waits for it looks again, and finds it gone.
      if (removal === 'removed') changes.moved(requestId);
      return removal;
    },
    noteAct: (act) => writer.write('noteAct', act),
    async dropAct(number) {
      await writer.write('dropAct', number);
    },
    listActs: async ({ limit, before = Number.MAX_SAFE_INTEGER }) =>
      readStore(() => snapshot.read(() => readActs(read.acts(before, limit), limit))),
  };
}
