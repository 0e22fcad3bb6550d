import { isDeepStrictEqual } from 'node:util';
import type { RequestRecord } from '@prism-gateway/protocol';
import { type Entry, findStepBack } from './ledger.ts';

/** The record without what claims and reports change. */
function creationOf(record: RequestRecord) {
  const { status, updatedAt, claimedBy, claimedAt, txHash, errorMessage, ...creation } = record;
  return creation;
}

/** Faults of the creation: an acknowledged one must be there word for word, any other whole. */
function evaluateCreation({ created, body }: Entry, record: RequestRecord): string | undefined {
  const { chainName, action, params } = body;
  const { requestId, createdAt } = record;
  const sent = { requestId, chainName, action, signer: params.signer, params, createdAt };
  if (!isDeepStrictEqual(creationOf(record), sent)) return 'it is not what was sent';
  if (created && !isDeepStrictEqual(creationOf(record), creationOf(created))) return 'it is not what was acknowledged';
  return undefined;
}

/** A record whose fields do not belong to its status was written by halves. */
function evaluateWholeness({ status, claimedBy, claimedAt, txHash, errorMessage, ...record }: RequestRecord) {
  const isClaimed = claimedBy !== undefined && claimedAt !== undefined;
  const isUnclaimed = claimedBy === undefined && claimedAt === undefined;
  const isWhole = {
    pending: isUnclaimed && record.updatedAt === record.createdAt && !txHash && !errorMessage,
    processing: isClaimed && record.updatedAt === claimedAt && !txHash && !errorMessage,
    success: isClaimed && txHash !== undefined && !errorMessage,
    failed: isClaimed && errorMessage !== undefined && !txHash,
  }[status];
  return isWhole ? undefined : 'its fields do not belong to its status';
}

function evaluateClaim({ owners, claimers, wasRefused }: Entry, record: RequestRecord): string | undefined {
  const claimedBy = record.claimedBy?.toLowerCase();
  if (owners.size > 1) return 'two claims were acknowledged';
  if (owners.size === 1 && (claimedBy === undefined || !owners.has(claimedBy))) return 'an acknowledged claim is lost';
  if (claimedBy !== undefined && !claimers.has(claimedBy)) return 'its owner never claimed it';
  if (wasRefused && record.status === 'pending') return 'a claim was refused, and it is pending';
  return undefined;
}

function evaluateReport({ reports }: Entry, record: RequestRecord): string | undefined {
  const { status, txHash, errorMessage } = record;
  const claimedBy = record.claimedBy?.toLowerCase();
  const ofRecord = { status, ...(txHash && { txHash }), ...(errorMessage && { errorMessage }) };
  const isRecords = ({ report, relayer }: Entry['reports'][number]) =>
    relayer === claimedBy && isDeepStrictEqual(report, ofRecord);
  const acknowledged = reports.filter(({ isAcknowledged }) => isAcknowledged);
  if (acknowledged.some((one) => !isRecords(one))) return 'an acknowledged report is lost';
  if (status === 'pending' || status === 'processing') return undefined;
  return reports.some(isRecords) ? undefined : 'its owner never sent such a report';
}

/** Compares what the store has of a request with what its clients know. */
export function evaluateEntry(entry: Entry, found: readonly RequestRecord[]): string | undefined {
  const [record] = found;
  if (record === undefined) return entry.created ? 'an acknowledged creation is lost' : undefined;
  if (found.length > 1) return 'one creation made several records';
  const stepBack = findStepBack(entry);
  if (stepBack !== undefined) return `its status went back: ${stepBack}`;
  return (
    evaluateCreation(entry, record) ??
    evaluateWholeness(record) ??
    evaluateClaim(entry, record) ??
    evaluateReport(entry, record)
  );
}
