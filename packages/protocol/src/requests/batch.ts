import * as z from 'zod/mini';
import { CONFLICT_REASONS, type ConflictReason } from '../errors/errorCodes.ts';
import { type Parsed, parseWith } from '../errors/fault.ts';
import { expecting, requestIdFormat } from '../formats.ts';
import { MAX_PAGE_SIZE } from './list.ts';
import { requestRecordSchema } from './record.ts';
import { REQUEST_STATUSES } from './status.ts';
import { updateRequestSchema } from './update.ts';

/** Most requests of one batch of claims or reports. */
export const MAX_REQUEST_BATCH = MAX_PAGE_SIZE;

/** Body of `POST /requests/claims`. */
export interface ClaimRequestsBody {
  readonly requestIds: readonly string[];
}

/** One entry of `POST /requests/reports`. */
export type RequestReport =
  | { readonly requestId: string; readonly status: 'success'; readonly txHash: string }
  | { readonly requestId: string; readonly status: 'failed'; readonly errorMessage: string };

/** Body of `POST /requests/reports`. */
export interface ReportRequestsBody {
  readonly reports: readonly RequestReport[];
}

const countError = { error: expecting(`1 to ${MAX_REQUEST_BATCH} entries`) };

/** Ids that stand a second time, by their place; letter case does not distinguish ids. */
function findRepeated(ids: readonly unknown[]): number[] {
  const seen = new Set<unknown>();
  return ids.flatMap((id, index) => {
    const key = typeof id === 'string' ? id.toLowerCase() : undefined;
    if (key === undefined || !seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [index];
  });
}

const onceEach = z.check<unknown[]>(({ value, issues }) => {
  for (const index of findRepeated(value)) {
    issues.push({ code: 'custom', path: [index], message: 'expected each id once', input: value[index] });
  }
});

const onceEachReport = z.check<{ requestId?: unknown }[]>(({ value, issues }) => {
  for (const index of findRepeated(value.map((report) => report?.requestId))) {
    issues.push({ code: 'custom', path: [index, 'requestId'], message: 'expected each id once', input: value[index] });
  }
});

/** Schema of `POST /requests/claims`. */
export const claimRequestsSchema = z.strictObject(
  {
    requestIds: z
      .array(requestIdFormat, countError)
      .check(
        ...[z.minLength(1, countError), z.maxLength(MAX_REQUEST_BATCH, countError), onceEach],
        z.meta({ description: 'Requests, each once', uniqueItems: true }),
      ),
  },
  { error: expecting('an object') },
);

/** One report: the fields of a `PATCH` that reports, and whose it is. */
export const requestReportForms = [
  z.strictObject({
    requestId: requestIdFormat,
    status: z.literal('success'),
    txHash: updateRequestSchema.shape.txHash.def.innerType,
  }),
  z.strictObject({
    requestId: requestIdFormat,
    status: z.literal('failed'),
    errorMessage: updateRequestSchema.shape.errorMessage.def.innerType,
  }),
] as const;

const reportSchema = z.discriminatedUnion('status', requestReportForms, {
  error: expecting('an object with requestId, status (success or failed) and txHash or errorMessage'),
});

/** Schema of `POST /requests/reports`. */
export const reportRequestsSchema = z.strictObject(
  {
    reports: z
      .array(reportSchema, countError)
      .check(
        ...[z.minLength(1, countError), z.maxLength(MAX_REQUEST_BATCH, countError)],
        onceEachReport,
        z.meta({ description: 'Reports, of each request one', uniqueItems: true }),
      ),
  },
  { error: expecting('an object') },
);

/** One request of a batch that was not moved: the status that it has, absent if there is no such request, and why. */
export const requestConflictSchema = z.strictObject({
  requestId: requestIdFormat,
  status: z.optional(z.enum(REQUEST_STATUSES)),
  // The table's keys are there.
  reason: z.enum(Object.keys(CONFLICT_REASONS) as [ConflictReason]),
});

/** A record without its params, which may be large, and which whoever names a request knows. */
export const requestHeadSchema = z.omit(requestRecordSchema, { params: true });

/** Answer to a batch: the records that it moved, and those that it could not; every entry is in one of the two. */
export const requestBatchSchema = z.strictObject({
  items: z.array(requestHeadSchema),
  count: z.int(),
  conflicts: z.array(requestConflictSchema),
});

/**
 * Parses the body of a batch of claims.
 *
 * @see docs/specification.md BATCH-1
 */
export function parseClaimRequests(input: unknown): Parsed<ClaimRequestsBody> {
  return parseWith(claimRequestsSchema, input);
}

/**
 * Parses the body of a batch of reports: one bad entry makes it bad as a whole.
 *
 * @see docs/specification.md BATCH-5
 */
export function parseReportRequests(input: unknown): Parsed<ReportRequestsBody> {
  return parseWith(reportRequestsSchema, input);
}
