import type { RequestRecord } from '@prism-gateway/protocol';
import { type CallOptions, getRequest } from '../requests/getRequest.ts';
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
  const { items, conflicts } = readBatch(`POST ${path}`, await transport.call(call));
  const outcomes = new Map(reports.map((report) => [report.requestId.toLowerCase(), report]));
  async function readSame(requestId: string): Promise<RequestRecord | undefined> {
    const report = outcomes.get(requestId.toLowerCase());
    const record = report && (await getRequest(transport, { requestId, signal }));
    return record && isOwnClaim(context, record) && saysSame(record, report) ? record : undefined;
  }
  const ended = conflicts.filter(({ status }) => status === 'success' || status === 'failed');
  const same = (await Promise.all(ended.map(({ requestId }) => readSame(requestId)))).filter(
    (one) => one !== undefined,
  );
  const isSame = new Set(same.map(({ requestId }) => requestId));
  return { items: [...items, ...same], conflicts: conflicts.filter(({ requestId }) => !isSame.has(requestId)) };
}
