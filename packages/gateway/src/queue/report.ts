import { requestNotFound, statusConflict } from '../http/errors.ts';
import type { Report, RequestStore, StoredRequest } from '../ports/requestStore.ts';

export interface ReportPorts {
  readonly requests: RequestStore;
  readonly newId: () => string;
  readonly now: () => number;
}

/** Why a report was refused: the record's status, or another relayer's claim. */
function conflictSentence(record: StoredRequest, asked: Report['outcome']['status']): string {
  if (record.status !== 'processing') {
    return `The request is ${record.status}; ${asked} was asked, and only a processing request can be reported on.`;
  }
  return `The request is processing under another relayer's claim; ${asked} was asked, and only its owner may report.`;
}

/**
 * Reports how a claimed request ended; only the relayer that holds the claim may.
 *
 * @returns the record, now `success` or `failed`
 * @throws ApiError REQUEST_NOT_FOUND, STATUS_CONFLICT
 * @see docs/specification.md REPORT-3, STATE-1
 */
export async function reportRequest(
  ports: ReportPorts,
  report: Pick<Report, 'requestId' | 'relayer' | 'outcome'>,
): Promise<StoredRequest> {
  const transition = await ports.requests.report({ ...report, reportId: ports.newId(), now: ports.now() });
  if (transition.outcome === 'missing') throw requestNotFound(report.requestId);
  if (transition.outcome === 'conflict') {
    throw statusConflict(conflictSentence(transition.record, report.outcome.status));
  }
  return transition.record;
}
