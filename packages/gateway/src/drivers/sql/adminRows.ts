import { REQUEST_STATUSES, type RequestStatus } from '@prism-gateway/protocol/states';
import {
  type Activity,
  type ActPage,
  type ChainCounts,
  quantileOf,
  type RelayerStats,
} from '../../ports/adminStore.ts';
import type { RequestStats } from '../../ports/requestStore.ts';
import type { Row } from './sqlWrite.ts';
import type { TextForm } from './tables.ts';

/** SQL for how many requests there are by status, and since when the oldest pending one. */
export function selectStats({ chains, requests }: { readonly chains: string; readonly requests: string }): string {
  const sums = REQUEST_STATUSES.map((status) => `(SELECT sum(${status}) FROM ${chains}) AS ${status}`).join(', ');
  return `SELECT ${sums}, (SELECT min(created_at) FROM ${requests} WHERE status = 'pending') AS oldest`;
}

/** Reads what `selectStats` gives. */
export function statsOfRow(row: Row): RequestStats {
  const counts = REQUEST_STATUSES.map((status) => [status, Number(row[status] ?? 0)]);
  // Every status is there.
  const countByStatus = Object.fromEntries(counts) as Record<RequestStatus, number>;
  return typeof row.oldest === 'number' ? { countByStatus, oldestPendingAt: row.oldest } : { countByStatus };
}

/** Reads the counts of a chain. */
export function readChain({ chain_name, pending, processing, success, failed }: Row): ChainCounts {
  const chainName = chain_name === '' ? null : String(chain_name);
  const [p, c, s, f] = [pending, processing, success, failed].map(Number) as [number, number, number, number];
  return { chainName, pending: p, processing: c, success: s, failed: f };
}

/** Reads what happened in a minute or an hour. */
export const readActivity = ({ start, posts, claims, success, failed }: Row): Activity => ({
  ...{ start: Number(start), posts: Number(posts), claims: Number(claims) },
  ...{ success: Number(success), failed: Number(failed) },
});

/** Reads what a relayer has done. */
export function readRelayer(row: Row): RelayerStats {
  const buckets: { [bucket: string]: number } = JSON.parse(String(row.durations));
  const histogram = new Map(Object.entries(buckets).map(([bucket, hits]) => [Number(bucket), hits]));
  const [medianMs, p95Ms] = [quantileOf(histogram, 0.5), quantileOf(histogram, 0.95)];
  return {
    ...{ address: String(row.address), openClaims: Number(row.open_claims), success: Number(row.success) },
    ...{ failed: Number(row.failed), conflicts: Number(row.conflicts) },
    ...(Number(row.last_seen_at) > 0 && { lastSeenAt: Number(row.last_seen_at) }),
    ...(medianMs !== undefined && { medianMs }),
    ...(p95Ms !== undefined && { p95Ms }),
  };
}

/** Reads a page of acts. */
export function readActs(
  rows: readonly Row[],
  { limit, form }: { readonly limit: number; readonly form: TextForm },
): ActPage {
  const items = rows.map(({ at, act, key_id, target, reason }) => ({
    ...{ at: Number(at), act: String(act), keyId: String(key_id), target: String(target) },
    ...(typeof reason === 'string' && { reason: form.read(reason) }),
  }));
  return { items, next: rows.length < limit ? null : Number(rows.at(-1)?.number) };
}

/** Whether a chain has any record. */
export const hasRecords = ({ pending, processing, success, failed }: ChainCounts) =>
  pending + processing + success + failed > 0;
