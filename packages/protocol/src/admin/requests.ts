import * as z from 'zod/mini';
import { type Fault, faultsFromIssues, type Parsed, parseWith } from '../errors/fault.ts';
import { addressFormat, chainNameFormat, expecting, isoTimeFormat, txHashFormat } from '../formats.ts';
import { DEFAULT_PAGE_SIZE, type ListRequestsQuery, listRequestsFields } from '../requests/list.ts';
import { readQueryFields } from '../requests/query.ts';
import { errorMessageFormat } from '../requests/update.ts';

/** Query of `GET /admin/requests`. */
export interface ListAllRequestsQuery extends ListRequestsQuery {
  /** Who holds or held the claim. */
  readonly relayer?: string | undefined;
  /** The transaction that was reported. */
  readonly txHash?: string | undefined;
}

/** The query's fields, each as text. */
export const listAllRequestsFields = {
  ...listRequestsFields,
  relayer: z.optional(addressFormat),
  txHash: z.optional(txHashFormat),
} as const;

const listSchema = z.object(listAllRequestsFields);

/**
 * Parses the query of an administrator's list; no filter is needed.
 *
 * @see docs/specification.md ADMIN-4
 */
export function parseListAllRequests(query: URLSearchParams): Parsed<ListAllRequestsQuery> {
  const faults: Fault[] = [];
  const result = listSchema.safeParse(readQueryFields(query, { names: Object.keys(listAllRequestsFields), faults }));
  if (!result.success) faults.push(...faultsFromIssues(result.error.issues));
  if (!result.success || faults.length > 0) return { faults };
  const { limit, order, ...rest } = result.data;
  return { value: { ...rest, limit: limit === undefined ? DEFAULT_PAGE_SIZE : Number(limit), order: order ?? 'asc' } };
}

/** Body of `POST /admin/requests/{requestId}/fail`. */
export const failRequestSchema = z.strictObject(
  { errorMessage: errorMessageFormat },
  { error: expecting('an object') },
);

/** @see docs/specification.md ADMIN-6 */
export const parseFailRequest = (input: unknown): Parsed<z.infer<typeof failRequestSchema>> =>
  parseWith(failRequestSchema, input);

/** What `DELETE /admin/requests/{requestId}` answers. */
export const requestPurgedSchema = z.strictObject({ message: z.string(), requestId: z.string() });
export type RequestPurged = z.infer<typeof requestPurgedSchema>;

const count = z.int();

const chainCountsSchema = z.strictObject({
  chainName: z.nullable(chainNameFormat),
  pending: count,
  processing: count,
  success: count,
  failed: count,
});

const activitySchema = z.strictObject({
  start: isoTimeFormat,
  posts: count,
  claims: count,
  success: count,
  failed: count,
});

const relayerStatsSchema = z.strictObject({
  address: addressFormat,
  openClaims: count,
  success: count,
  failed: count,
  conflicts: count,
  medianMs: z.optional(z.number()),
  p95Ms: z.optional(z.number()),
  lastSeenAt: isoTimeFormat,
});

/**
 * What `GET /admin/stats` answers.
 *
 * @see docs/specification.md ADMIN-8
 */
export const queueStatsSchema = z.strictObject({
  version: z.string(),
  chains: z.array(chainCountsSchema),
  oldestPendingAt: z.optional(isoTimeFormat),
  oldestProcessingAt: z.optional(isoTimeFormat),
  minutes: z.array(activitySchema),
  hours: z.array(activitySchema),
  relayers: z.array(relayerStatsSchema),
});
export type QueueStatsBody = z.infer<typeof queueStatsSchema>;
