import type { DatabaseSync } from 'node:sqlite';
import type {
  BatchTransition,
  Claim,
  ClaimTransition,
  Creation,
  OldestClaim,
  Release,
  Report,
  StoredRequest,
  Transition,
} from '../../ports/requestStore.ts';
import { prepareClaim, prepareClaimAll, prepareClaimOldest } from './claimWrites.ts';
import { prepareCounters } from './counters.ts';
import { type NewRequest, prepareCreate } from './createWrite.ts';
import {
  createReportAll,
  prepareRelease,
  prepareReleaseStep,
  prepareReport,
  type ReleasedStep,
  type ReleaseStep,
} from './endWrites.ts';
import { type ExpiredStep, type ExpiryStep, prepareRetention } from './retentionWrites.ts';
import type { Batch, QuotedTables } from './tables.ts';

/** The writes of requests, with what each takes and returns. */
export interface RequestWrites {
  create: { readonly input: NewRequest; readonly result: Creation };
  claim: { readonly input: Claim; readonly result: ClaimTransition };
  claimAll: { readonly input: Batch<Claim>; readonly result: readonly BatchTransition[] };
  claimOldest: { readonly input: OldestClaim; readonly result: readonly StoredRequest[] };
  report: { readonly input: Report; readonly result: Transition };
  reportAll: { readonly input: Batch<Report>; readonly result: readonly BatchTransition[] };
  release: { readonly input: Release; readonly result: Transition };
  releaseStep: { readonly input: ReleaseStep; readonly result: ReleasedStep };
  expireStep: { readonly input: ExpiryStep; readonly result: ExpiredStep };
  vacuumStep: { readonly input: null; readonly result: number };
}

/**
 * Prepares the moves of requests on one connection; their conditions come from the table of moves. Call them inside a transaction, and
 * `counters.save` before its commit, or `counters.forget` when it fails.
 */
export function prepareRequestWrites(database: DatabaseSync, tables: QuotedTables) {
  const counters = prepareCounters(database, tables);
  const claim = prepareClaim(database, tables, counters);
  const report = prepareReport(database, tables, counters);
  const writes = {
    create: prepareCreate(database, tables, counters),
    claim,
    claimAll: prepareClaimAll(database, tables, { counters, claim }),
    claimOldest: prepareClaimOldest(database, tables, claim),
    report,
    reportAll: createReportAll(report),
    release: prepareRelease(database, tables, counters),
    releaseStep: prepareReleaseStep(database, tables, counters),
    ...prepareRetention(database, tables, counters),
  };
  return { writes, counters };
}
