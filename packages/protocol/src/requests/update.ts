import * as z from 'zod/mini';
import { type Parsed, parseWith } from '../errors/fault.ts';
import { codePointsFormat, expecting, isoTimeFormat, requestIdFormat, txHashFormat } from '../formats.ts';
import { REQUESTABLE_STATUSES } from './status.ts';

/** Most Unicode code points of an `errorMessage`. */
export const MAX_ERROR_MESSAGE_LENGTH = 1000;

/** Body of `PATCH /requests/{requestId}`: a claim, or a report of success or failure. */
export type UpdateRequestBody =
  | { readonly status: 'processing' }
  | { readonly status: 'success'; readonly txHash: string }
  | { readonly status: 'failed'; readonly errorMessage: string };

/** Why a request failed. */
export const errorMessageFormat = codePointsFormat(
  MAX_ERROR_MESSAGE_LENGTH,
  'Why the request failed',
  'execution reverted: InsufficientBalance',
);

const fieldOf = { processing: undefined, success: 'txHash', failed: 'errorMessage' } as const;
const expectedOf = { txHash: '0x followed by 64 hex digits', errorMessage: '1 to 1000 Unicode characters' } as const;

/** Each status takes its own field and no other. */
const fieldsOfStatus = z.check<{ status?: unknown; txHash?: unknown; errorMessage?: unknown }>(
  (payload) => {
    const status = REQUESTABLE_STATUSES.find((known) => known === payload.value.status);
    if (status === undefined) return;
    for (const field of ['txHash', 'errorMessage'] as const) {
      const input = payload.value[field];
      if (field === fieldOf[status] && input === undefined) {
        const message = `required with status ${status}: expected ${expectedOf[field]}`;
        payload.issues.push({ code: 'custom', path: [field], message, input });
      } else if (field !== fieldOf[status] && input !== undefined) {
        payload.issues.push({ code: 'custom', path: [field], message: `expected none with status ${status}`, input });
      }
    }
  },
  // Even if fields have faults, so that one answer names them all; never on another type.
  { when: ({ value }) => typeof value === 'object' && value !== null },
);

/** Schema of `PATCH /requests/{requestId}`. */
export const updateRequestSchema = z
  .strictObject(
    {
      status: z.enum(REQUESTABLE_STATUSES, { error: expecting('one of processing, success, failed') }),
      txHash: z.optional(txHashFormat),
      errorMessage: z.optional(errorMessageFormat),
    },
    { error: expecting('an object') },
  )
  .check(fieldsOfStatus);

/** The schema's three forms, one a status, for documentation. */
export const updateRequestForms = [
  z.strictObject({ status: z.literal('processing') }),
  z.strictObject({ status: z.literal('success'), txHash: txHashFormat }),
  z.strictObject({ status: z.literal('failed'), errorMessage: errorMessageFormat }),
] as const;

/**
 * Parses the body of a claim or report.
 *
 * @see docs/specification.md CLAIM-4, REPORT-1
 */
export function parseUpdateRequest(input: unknown): Parsed<UpdateRequestBody> {
  // The schema's check ties each status to its field.
  return parseWith(updateRequestSchema, input) as Parsed<UpdateRequestBody>;
}

/** Schema of `POST /requests/{requestId}/release`: the claim that is given back; absent: whichever stands. */
export const releaseRequestSchema = z.strictObject(
  { claimedAt: z.optional(isoTimeFormat) },
  { error: expecting('an object') },
);

/** Parses the body of a release. @see docs/specification.md RELEASE-3 */
export const parseReleaseRequest = (input: unknown): Parsed<z.infer<typeof releaseRequestSchema>> =>
  parseWith(releaseRequestSchema, input);

/** The form of the ids that the service makes, which needs no second look. */
const ownIdForm = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Parses the request id of a path.
 *
 * @param input - as it stands in the path; undefined if the route has none
 * @returns a UUID in lower case, the form in which ids are made and kept
 * @see docs/specification.md RECORD-7
 */
export function parseRequestId(input: string | undefined): Parsed<string> {
  if (input !== undefined && ownIdForm.test(input)) return { value: input };
  const parsed = parseWith(requestIdFormat, input);
  if ('value' in parsed) return { value: parsed.value.toLowerCase() };
  return { faults: parsed.faults.map(({ message }) => ({ path: 'requestId', message })) };
}
