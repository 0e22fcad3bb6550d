import * as z from 'zod/mini';
import type { Parsed } from '../errors/fault.ts';
import { expecting } from '../formats.ts';
import { MAX_PAGE_SIZE } from '../requests/list.ts';
import { parseQuery } from '../requests/query.ts';
import { waitFormat } from '../requests/wait.ts';

/** Query of `GET /admin/stats`: wait for other stats than those that are known. */
export interface ReadStatsQuery {
  /** The `version` of the stats that are known. */
  readonly seen?: string | undefined;
  readonly waitSeconds: number;
}

const seenError = { error: expecting('the version of the stats that are known') };
const statsSchema = z
  .object({
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
 * @see docs/specification.md ADMIN-10
 */
export function parseStatsQuery(query: URLSearchParams): Parsed<ReadStatsQuery> {
  const parsed = parseQuery(statsSchema, query);
  if ('faults' in parsed) return parsed;
  const { seen, wait = 0 } = parsed.value;
  return { value: { ...(seen !== undefined && { seen }), waitSeconds: Number(wait) } };
}

/** Query of `GET /admin/audit`. */
export interface ListActsQuery {
  readonly limit: number;
  /** The number of the act before which the page begins. */
  readonly lastKey?: number | undefined;
}

const DEFAULT_ACTS = 50;
const limitError = { error: expecting(`1 to ${MAX_PAGE_SIZE}`) };
const keyError = { error: expecting('the lastKey of the page before') };
const actsSchema = z.object({
  limit: z.optional(z.string(limitError).check(z.regex(/^(?:[1-9][0-9]?|100)$/, limitError))),
  lastKey: z.optional(z.string(keyError).check(z.regex(/^[1-9][0-9]{0,14}$/, keyError))),
});

/**
 * Parses the query of the audit log.
 *
 * @see docs/specification.md ADMIN-11
 */
export function parseListActs(query: URLSearchParams): Parsed<ListActsQuery> {
  const parsed = parseQuery(actsSchema, query);
  if ('faults' in parsed) return parsed;
  const { limit = DEFAULT_ACTS, lastKey } = parsed.value;
  return { value: { limit: Number(limit), ...(lastKey !== undefined && { lastKey: Number(lastKey) }) } };
}
