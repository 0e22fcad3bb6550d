import * as z from 'zod/mini';
import type { Parsed } from '../errors/fault.ts';
import { chainNameFormat, expecting } from '../formats.ts';
import { cursorFormat, MAX_PAGE_SIZE } from './list.ts';
import { parseQuery } from './query.ts';
import { requestRecordSchema } from './record.ts';
import { REQUEST_STATUSES, type RequestStatus } from './status.ts';

/** Longest wait of one call, in seconds. */
export const MAX_WAIT_SECONDS = 25;

/** Most records of a page of the feed. */
export const FEED_PAGE_SIZE = MAX_PAGE_SIZE;

const waitError = { error: expecting(`whole seconds from 0 to ${MAX_WAIT_SECONDS}`) };
/** How long a call may wait, as text. */
export const waitFormat = z.string(waitError).check(z.regex(/^(?:1?[0-9]|2[0-5])$/, waitError));

/** Query of `GET /requests/{requestId}`: wait for another status than the one that is known. */
export interface ReadRequestQuery {
  readonly seen?: RequestStatus | undefined;
  readonly waitSeconds: number;
}

/** Query of `GET /requests/feed`. */
export interface FeedRequestsQuery {
  readonly chainName: string;
  /** Cursor of the page before. */
  readonly seen?: string | undefined;
  /** By which name it came. */
  readonly seenBy: 'seen' | 'cursor';
  readonly from: 'oldest' | 'now';
  readonly waitSeconds: number;
}

const statusFormat = z.enum(REQUEST_STATUSES, { error: expecting(`one of ${REQUEST_STATUSES.join(', ')}`) });

const readSchema = z
  .object({ seen: z.optional(statusFormat), status: z.optional(statusFormat), wait: z.optional(waitFormat) })
  .check(
    z.refine(({ seen, status, wait }) => wait === undefined || wait === '0' || (seen ?? status) !== undefined, {
      path: ['seen'],
      error: 'required beside wait: the status that is known',
    }),
  );
const feedSchema = z
  .object({
    chainName: chainNameFormat,
    seen: z.optional(cursorFormat('cursor')),
    cursor: z.optional(cursorFormat('cursor')),
    from: z.optional(z.enum(['oldest', 'now'], { error: expecting('oldest or now') })),
    wait: z.optional(waitFormat),
  })
  .check(
    z.refine(({ seen, cursor, from }) => (seen ?? cursor) === undefined || from === undefined, {
      path: ['from'],
      error: 'expected no from beside a cursor',
    }),
  );

/** A page of the feed; its `cursor` is there also after the last record. */
export const feedPageSchema = z.strictObject({
  items: z.array(requestRecordSchema),
  count: z.int(),
  cursor: z.string(),
});

/**
 * Parses the query of a read.
 *
 * @see docs/specification.md WAIT-1
 */
export function parseReadQuery(query: URLSearchParams): Parsed<ReadRequestQuery> {
  // Without a wait the specification knows no query here, and none is refused.
  if (!query.has('wait')) return { value: { waitSeconds: 0 } };
  const parsed = parseQuery(readSchema, query);
  if ('faults' in parsed) return parsed;
  // `status` is an earlier name of `seen`.
  const { status, seen = status, wait = 0 } = parsed.value;
  return { value: { ...(seen !== undefined && { seen }), waitSeconds: Number(wait) } };
}

/**
 * Parses the query of the feed.
 *
 * @see docs/specification.md FEED-1
 */
export function parseFeedQuery(query: URLSearchParams): Parsed<FeedRequestsQuery> {
  const parsed = parseQuery(feedSchema, query);
  if ('faults' in parsed) return parsed;
  // `cursor` is an earlier name of `seen`.
  const { chainName, wait = 0, from = 'oldest', cursor, seen = cursor } = parsed.value;
  const seenBy = parsed.value.seen === undefined ? 'cursor' : 'seen';
  return { value: { chainName, from, seenBy, waitSeconds: Number(wait), ...(seen !== undefined && { seen }) } };
}
