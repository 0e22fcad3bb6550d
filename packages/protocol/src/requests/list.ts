import * as z from 'zod/mini';
import { type Fault, faultsFromIssues, type Parsed } from '../errors/fault.ts';
import { addressFormat, chainNameFormat, expecting } from '../formats.ts';
import { readQueryFields } from './query.ts';
import { REQUEST_STATUSES, type RequestStatus } from './status.ts';

export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 20;

/** Longest cursor that is looked at, in characters. */
const MAX_CURSOR_LENGTH = 1024;

/** The filters of a list; all that are given must hold. */
export interface ListFilters {
  /** Address, in any letter case. */
  readonly signer?: string | undefined;
  /** For relayers only. */
  readonly status?: RequestStatus | undefined;
  /** For relayers only. */
  readonly chainName?: string | undefined;
}

/** Query of `GET /requests`. */
export interface ListRequestsQuery extends ListFilters {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly lastKey?: string | undefined;
}

const limitError = { error: expecting(`an integer from 1 to ${MAX_PAGE_SIZE}`) };

/** An opaque cursor. @param field - by which the page before has given it */
export function cursorFormat(field: string) {
  const error = expecting(`the ${field} of the page before`);
  return z
    .string()
    .check(
      z.regex(/^[A-Za-z0-9_-]+$/, { error }),
      z.maxLength(MAX_CURSOR_LENGTH, { error }),
      z.meta({ description: `Cursor: the \`${field}\` of the page before` }),
    );
}

const filters = {
  signer: z.optional(addressFormat),
  status: z.optional(z.enum(REQUEST_STATUSES, { error: expecting(`one of ${REQUEST_STATUSES.join(', ')}`) })),
  chainName: z.optional(chainNameFormat),
} satisfies Record<keyof ListFilters, z.ZodMiniType>;

const FILTERS = Object.keys(filters);

/** Whether a list is anybody's to read: by its signer alone. @param names - of the query's parameters */
export function isPublicList(names: Iterable<string>): boolean {
  return ![...names].some((name) => name !== 'signer' && FILTERS.includes(name));
}

/** The query's fields, each as text. */
export const listRequestsFields = {
  ...filters,
  limit: z.optional(
    z
      .string(limitError)
      .check(
        z.regex(/^(?:[1-9][0-9]?|100)$/, limitError),
        z.meta({ description: `Page size, 1 to ${MAX_PAGE_SIZE}, default ${DEFAULT_PAGE_SIZE}`, examples: ['20'] }),
      ),
  ),
  order: z.optional(z.enum(['asc', 'desc'], { error: expecting('asc (oldest first) or desc') })),
  lastKey: z.optional(cursorFormat('lastKey')),
} as const;

const schema = z.object(listRequestsFields);

/**
 * Parses the query of a list. Unknown parameters are ignored; a known one may stand once and not empty.
 *
 * @see docs/specification.md LIST-1
 */
export function parseListRequests(query: URLSearchParams): Parsed<ListRequestsQuery> {
  const faults: Fault[] = [];
  const fields = readQueryFields(query, { names: Object.keys(listRequestsFields), faults });
  const result = schema.safeParse(fields);
  if (!result.success) faults.push(...faultsFromIssues(result.error.issues));
  if (!FILTERS.some((name) => query.has(name))) {
    faults.push({ path: 'query', message: `expected at least one of ${FILTERS.join(', ')}` });
  }
  if (!result.success || faults.length > 0) return { faults };
  const { limit, order, ...rest } = result.data;
  return { value: { ...rest, limit: limit === undefined ? DEFAULT_PAGE_SIZE : Number(limit), order: order ?? 'asc' } };
}
