import type { RequestRecord } from '@prism-gateway/protocol';
import { type CallOptions, getRequest } from '../requests/getRequest.ts';
import { isEnded } from '../requests/waitForRequest.ts';
import { isOwnClaim, type RelayerContext } from './moveRequest.ts';
import { type BatchOutcome, readBatch } from './readBatch.ts';
import { type Outcome, saysSame } from './reportRequest.ts';

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
