import type { RequestRecord, RequestStatus } from '@prism-gateway/protocol';
import { unexpectedAnswer } from '../errors/gatewayError.ts';
import { type CallOptions, getRequest, readRecord } from '../requests/getRequest.ts';
import { isEnded } from '../requests/waitForRequest.ts';
import { isClaimed, isOwnClaim, type Outcome, type RelayerContext, saysSame } from './moveRequest.ts';

/** Which requests are claimed: 1 to 100 by their ids, or the oldest pending ones of a chain, at most `limit` (1 to 100). */
export type ClaimOrder =
  | { readonly requestIds: readonly string[] }
  | { readonly chainName: string; readonly limit: number };

/**
 * Claims many requests in one call: one signature, and each claim as exclusive as a single one.
 *
 * Claims by ids are repeated where an answer was lost, since one that is held already is claimed again. The oldest of a chain are
 * not: with `mayHaveHappened` some may be held that nobody has been told of; they are pending again when their lease has lapsed.
 *
 * @throws GatewayError VALIDATION_FAILED, UNAUTHORISED, NOT_FOUND from a gateway that has the specification alone, and what any call
 * may throw
 */
export async function claimRequests(
  context: RelayerContext,
  { signal, ...body }: ClaimOrder & CallOptions,
): Promise<BatchOutcome> {
  const { transport, makeHeaders } = context;
  const path = '/requests/claims';
  const wanted = 'requestIds' in body ? new Set(body.requestIds.map((id) => id.toLowerCase())) : undefined;
  const isDone = (record: RequestRecord) =>
    isClaimed(context, record) &&
    ('chainName' in body ? record.chainName === body.chainName : wanted?.has(record.requestId.toLowerCase()) === true);
  const repeat = wanted ? 'freely' : 'ifUnsent';
  const answer = await transport.call({ method: 'POST', path, body, makeHeaders, repeat, signal });
  return readBatch({ what: `POST ${path}`, isDone }, answer);
}

/** What became of many requests that were to be moved in one call. */
export interface BatchOutcome {
  /** Those that were moved, as they are now. */
  readonly items: readonly RequestRecord[];
  /** Those that were not, and the status that they have. */
  readonly conflicts: readonly { readonly requestId: string; readonly status: RequestStatus }[];
}

/**
 * Takes an answer for that of a batch.
 *
 * @param isDone - whether a record shows what was asked for
 * @throws GatewayError UNEXPECTED_ANSWER
 */
function readBatch(
  { what, isDone }: { readonly what: string; readonly isDone: (record: RequestRecord) => boolean },
  answer: unknown,
): BatchOutcome {
  // Read with care until it has shown what it is.
  const { items, conflicts } = Object(answer) as Partial<BatchOutcome>;
  const isBatch = Array.isArray(items) && Array.isArray(conflicts);
  if (!isBatch || !conflicts.every((conflict) => typeof conflict?.requestId === 'string'))
    throw unexpectedAnswer(what, 'batch');
  const records = items.map((item) => readRecord(what, item));
  if (!records.every(isDone)) throw unexpectedAnswer(what, 'batch of what was asked for');
  return { items: records, conflicts };
}

/** How one of many requests ended. */
export type Report = { readonly requestId: string } & Outcome;

/**
 * Reports how 1 to 100 requests ended, in one call. As with a single report, to report the same again is a success: what conflicts
 * is read back, and is no conflict where it shows this relayer's own report.
 *
 * @throws GatewayError VALIDATION_FAILED for all of them where one is malformed; UNAUTHORISED, NOT_FOUND from a gateway that has the
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
  function isDone(record: RequestRecord): boolean {
    const report = outcomes.get(record.requestId.toLowerCase());
    return report !== undefined && isOwnClaim(context, record) && saysSame(record, report);
  }
  const { items, conflicts } = readBatch({ what: `POST ${path}`, isDone }, await transport.call(call));
  async function readSame({ requestId }: Report): Promise<RequestRecord | undefined> {
    const record = await getRequest(transport, { requestId, signal });
    return isDone(record) ? record : undefined;
  }
  const ended = new Set(conflicts.filter(isEnded).map(({ requestId }) => requestId.toLowerCase()));
  const looks = reports.filter(({ requestId }) => ended.has(requestId.toLowerCase())).map(readSame);
  const same = (await Promise.all(looks)).filter((one) => one !== undefined);
  const isSame = new Set(same.map(({ requestId }) => requestId));
  return { items: [...items, ...same], conflicts: conflicts.filter(({ requestId }) => !isSame.has(requestId)) };
}
