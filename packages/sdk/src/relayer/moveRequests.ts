import type { ConflictReason, RequestHead, RequestStatus } from '@prism-gateway/protocol';
import { unexpectedAnswer } from '../errors/gatewayError.ts';
import { type CallOptions, getRequest, isHead } from '../requests/getRequest.ts';
import { isClaimed, isOwnClaim, type Outcome, type RelayerContext, saysSame } from './moveRequest.ts';

/**
 * Claims 1 to 100 requests in one call: one signature, and each claim as exclusive as a single one. One that is held already is claimed
 * again, so the call is repeated if an answer was lost.
 *
 * @throws GatewayError VALIDATION_FAILED, UNAUTHORISED, NOT_FOUND from a gateway that has the specification alone, and what any call
 * may throw
 */
export async function claimRequests(
  context: RelayerContext,
  { requestIds, signal }: { readonly requestIds: readonly string[] } & CallOptions,
): Promise<BatchOutcome> {
  const { transport, makeHeaders } = context;
  const path = '/requests/claims';
  const wanted = new Set(requestIds.map((id) => id.toLowerCase()));
  const isDone = (record: RequestHead) => isClaimed(context, record) && wanted.has(record.requestId.toLowerCase());
  const call = { method: 'POST', path, body: { requestIds }, makeHeaders, repeat: 'freely', signal } as const;
  return readBatch({ what: `POST ${path}`, isDone }, await transport.call(call));
}

/** The result of moving many requests in one call. */
export interface BatchOutcome {
  /** Those that were moved, as they are now, without their params. */
  readonly items: readonly RequestHead[];
  /** Those that were not, the status that they have, and why. */
  readonly conflicts: readonly {
    readonly requestId: string;
    readonly status?: RequestStatus;
    readonly reason: ConflictReason;
  }[];
}

/**
 * Takes an answer for that of a batch.
 *
 * @param isDone - whether a record shows what was asked for
 * @throws GatewayError UNEXPECTED_ANSWER
 */
function readBatch(
  { what, isDone }: { readonly what: string; readonly isDone: (record: RequestHead) => boolean },
  answer: unknown,
): BatchOutcome {
  // Read with care until it has shown what it is.
  const { items, conflicts } = Object(answer) as Partial<BatchOutcome>;
  const isBatch = Array.isArray(items) && Array.isArray(conflicts);
  if (!isBatch || !conflicts.every((conflict) => typeof conflict?.requestId === 'string'))
    throw unexpectedAnswer(what, 'batch');
  if (!items.every((item) => isHead(Object(item)) && isDone(item)))
    throw unexpectedAnswer(what, 'batch of what was asked for');
  return { items, conflicts };
}

/** How one of many requests ended. */
export type Report = { readonly requestId: string } & Outcome;

/**
 * Reports how 1 to 100 requests ended, in one call. As with a single report, to report the same again is a success: what conflicts
 * is read back, and is no conflict if it shows this relayer's own report.
 *
 * @throws GatewayError VALIDATION_FAILED for all of them if one is malformed; UNAUTHORISED, NOT_FOUND from a gateway that has the
 * specification alone, and what any call may throw
 */
export async function reportRequests(
  context: RelayerContext,
  { reports, signal }: { readonly reports: readonly Report[] } & CallOptions,
): Promise<BatchOutcome> {
  const { transport, makeHeaders } = context;
  const path = '/requests/reports';
  const call = { method: 'POST', path, body: { reports }, makeHeaders, repeat: 'freely', signal } as const;
  const outcomes = new Map(reports.map((report) => [report.requestId.toLowerCase(), report]));
  function isDone(record: RequestHead): boolean {
    const report = outcomes.get(record.requestId.toLowerCase());
    return report !== undefined && isOwnClaim(context, record) && saysSame(record, report);
  }
  const { items, conflicts } = readBatch({ what: `POST ${path}`, isDone }, await transport.call(call));
  async function readSame({ requestId }: Report): Promise<RequestHead | undefined> {
    const record = await getRequest(transport, { requestId, signal });
    return isDone(record) ? record : undefined;
  }
  const ended = new Set(
    conflicts.flatMap(({ requestId, reason }) => (reason === 'ended' ? [requestId.toLowerCase()] : [])),
  );
  const looks = reports.filter(({ requestId }) => ended.has(requestId.toLowerCase())).map(readSame);
  const same = (await Promise.all(looks)).filter((one) => one !== undefined);
  const isSame = new Set(same.map(({ requestId }) => requestId));
  return { items: [...items, ...same], conflicts: conflicts.filter(({ requestId }) => !isSame.has(requestId)) };
}
