import * as z from 'zod/mini';
import { type Fault, faultsFromIssues, type Parsed, parseWith } from '../errors/fault.ts';
import { addressFormat, expecting, isoTimeFormat, txHashFormat } from '../formats.ts';
import {
  cursorFormat,
  DEFAULT_PAGE_SIZE,
  type ListRequestsQuery,
  listRequestsFields,
  MAX_PAGE_SIZE,
} from '../requests/list.ts';
import { parseQuery, readQueryFields } from '../requests/query.ts';
import { errorMessageFormat } from '../requests/update.ts';
import { waitFormat } from '../requests/wait.ts';

/** Query of `GET /admin/requests`. */
export interface ListAllRequestsQuery extends ListRequestsQuery {
  /** Who holds or held the claim. */
  readonly relayer?: string | undefined;
  /** The transaction that was reported. */
  readonly txHash?: string | undefined;
  /** Earliest `createdAt`, in milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** All are older than this. */
  readonly to?: number | undefined;
}

const momentFormat = isoTimeFormat.check(
  z.refine((time) => !Number.isNaN(Date.parse(time)), { error: expecting('a time that there is') }),
);

/** The query's fields, each as text. */
export const listAllRequestsFields = {
  ...listRequestsFields,
  relayer: z.optional(addressFormat),
  txHash: z.optional(txHashFormat),
  from: z.optional(momentFormat),
  to: z.optional(momentFormat),
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
  const { limit = DEFAULT_PAGE_SIZE, order = 'asc', from, to, ...rest } = result.data;
  const range = { ...(from && { from: Date.parse(from) }), ...(to && { to: Date.parse(to) }) };
  return { value: { ...rest, ...range, limit: Number(limit), order } };
}

/** Body of `POST /admin/requests/{requestId}/fail`. */
export const failRequestSchema = z.strictObject(
  { errorMessage: errorMessageFormat },
  { error: expecting('an object') },
);

/** @see docs/specification.md ADMIN-6 */
export const parseFailRequest = (input: unknown): Parsed<z.infer<typeof failRequestSchema>> =>
  parseWith(failRequestSchema, input);

/** The answer of `DELETE /admin/requests/{requestId}`. */
export const requestPurgedSchema = z.strictObject({ message: z.string(), requestId: z.string() });
export type RequestPurged = z.infer<typeof requestPurgedSchema>;

/** Query of `GET /admin/stats`: a wait for other stats than those that are known, and what the programs are asked about. */
export interface ReadStatsQuery {
  /** The `version` of the stats that are known. */
  readonly seen?: string | undefined;
  /** Id of a request or of a payment. */
  readonly about?: string | undefined;
  readonly waitSeconds: number;
}

const seenError = { error: expecting('the version of the stats that are known') };
const aboutError = { error: expecting('1 to 200 letters, digits and _ - . :') };
const statsSchema = z
  .object({
    about: z.optional(z.string(aboutError).check(z.regex(/^[\w.:-]{1,200}$/, aboutError))),
    seen: z.optional(z.string(seenError).check(z.regex(/^[0-9a-f]{16}$/, seenError))),
    wait: z.optional(waitFormat),
  })
  .check(
    z.refine(({ seen, wait }) => wait === undefined || wait === '0' || seen !== undefined, {
      path: ['seen'],
      error: 'required beside wait: the version that is known',
    }),
  );

/**
 * Parses the query of the stats.
 *
 * @see docs/specification.md ADMIN-10, ADMIN-13
 */
export function parseStatsQuery(query: URLSearchParams): Parsed<ReadStatsQuery> {
  const parsed = parseQuery(statsSchema, query);
  if ('faults' in parsed) return parsed;
  const { wait = 0, ...rest } = parsed.value;
  return { value: { ...rest, waitSeconds: Number(wait) } };
}

/** Query of `GET /admin/audit`. */
export interface ListActsQuery {
  readonly limit: number;
  readonly lastKey?: string | undefined;
  /** The thing acted upon, in any letter case. */
  readonly target?: string | undefined;
}

const DEFAULT_ACTS = 50;
const limitError = { error: expecting(`1 to ${MAX_PAGE_SIZE}`) };
const actsSchema = z.object({
  limit: z.optional(z.string(limitError).check(z.regex(/^(?:[1-9][0-9]?|100)$/, limitError))),
  lastKey: z.optional(cursorFormat('lastKey')),
  target: z.optional(z.string().check(z.maxLength(200, { error: expecting('at most 200 characters') }))),
});

/**
 * Parses the query of the audit log.
 *
 * @see docs/specification.md ADMIN-11
 */
export function parseListActs(query: URLSearchParams): Parsed<ListActsQuery> {
  const parsed = parseQuery(actsSchema, query);
  if ('faults' in parsed) return parsed;
  const { limit = DEFAULT_ACTS, lastKey, target } = parsed.value;
  return { value: { limit: Number(limit), target, lastKey } };
}
