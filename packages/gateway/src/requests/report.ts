import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Release, Report, RequestStore, StoredRequest } from '../ports/requestStore.ts';
import { createBatch, type RequestBatch } from './claim.ts';
import {
  ClaimNotOwnedError,
  type RequestConflictError,
  RequestNotClaimedError,
  RequestNotFoundError,
} from './errors.ts';

export interface ReportPorts {
  readonly requests: RequestStore;
  readonly newId: () => string;
  readonly now: () => number;
}

/** Why a report was refused: the record's status, or another relayer's claim. */
function conflictOf(record: StoredRequest, asked: Report['outcome']['status'] | 'pending'): RequestConflictError {
  if (record.status !== REQUEST_MOVES.report.from) return new RequestNotClaimedError(record, asked);
  return new ClaimNotOwnedError(record, asked);
}

/**
 * Reports how a claimed request ended; only the relayer that holds the claim may.
 *
 * @returns the record, now `success` or `failed`
 * @throws RequestNotFoundError, RequestNotClaimedError, ClaimNotOwnedError
 * @see docs/specification.md REPORT-3, STATE-1
 */
export async function reportRequest(
  ports: ReportPorts,
  report: Pick<Report, 'requestId' | 'relayer' | 'outcome'>,
): Promise<StoredRequest> {
  const transition = await ports.requests.report({ ...report, reportId: ports.newId(), now: ports.now() });
  if (transition.outcome === 'missing') throw new RequestNotFoundError(report.requestId);
  if (transition.outcome === 'conflict') throw conflictOf(transition.record, report.outcome.status);
  return transition.record;
}

/**
 * Reports how many requests ended, each as atomic as one report; a conflict only concerns its own entry.
 *
 * @param reports - each request once, ids in lower case
 * @see docs/specification.md BATCH-5
 */
export async function reportRequests(
  ports: ReportPorts,
  reports: readonly Pick<Report, 'requestId' | 'relayer' | 'outcome'>[],
): Promise<RequestBatch> {
  const now = ports.now();
  const transitions = await ports.requests.reportAll(
    reports.map((report) => ({ ...report, reportId: ports.newId(), now })),
  );
  return createBatch(
    'report',
    reports.map(({ requestId }) => requestId),
    transitions,
  );
}

/**
 * Gives a claimed request back, so that others may claim it at once; only the relayer that holds it may. A release that names its claim,
 * by `claimedAt`, is void for any later one: sent again by whoever has seen it, it gives nothing back.
 *
 * @returns the record, `pending` again
 * @throws RequestNotFoundError, RequestNotClaimedError, ClaimNotOwnedError
 * @see docs/specification.md RELEASE-1, RELEASE-3
 */
export async function releaseRequest(
  ports: ReportPorts,
  release: Pick<Release, 'requestId' | 'relayer' | 'claimedAt'>,
): Promise<StoredRequest> {
  const transition = await ports.requests.release({ ...release, releaseId: ports.newId(), now: ports.now() });
  if (transition.outcome === 'missing') throw new RequestNotFoundError(release.requestId);
  if (transition.outcome === 'conflict') throw conflictOf(transition.record, 'pending');
  return transition.record;
}
