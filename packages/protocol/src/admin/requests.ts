import * as z from 'zod/mini';
import { type Fault, faultsFromIssues, type Parsed, parseWith } from '../errors/fault.ts';
import { addressFormat, expecting, txHashFormat } from '../formats.ts';
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
