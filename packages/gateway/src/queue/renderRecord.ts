import { formatTime } from '../formatTime.ts';
import type { StoredRequest } from '../ports/requestStore.ts';

/**
 * Writes a record as JSON. The params go out as the text they were stored as; every other field but `errorMessage` was
 * checked on its way in to hold nothing that JSON would escape.
 *
 * @see docs/specification.md RECORD-1
 */
export function renderRecord(record: StoredRequest): string {
  const { requestId, chainName, action, signer, status, paramsJson, createdAt, updatedAt } = record;
  const created = formatTime(createdAt);
  const updated = updatedAt === createdAt ? created : formatTime(updatedAt);
  let json = `{"requestId":"${requestId}","chainName":"${chainName}","action":"${action}","signer":"${signer}","status":"${status}","params":${paramsJson},"createdAt":"${created}","updatedAt":"${updated}"`;
  if (record.txHash !== undefined) json += `,"txHash":"${record.txHash}"`;
  if (record.errorMessage !== undefined) json += `,"errorMessage":${JSON.stringify(record.errorMessage)}`;
  if (record.claimedBy !== undefined) json += `,"claimedBy":"${record.claimedBy}"`;
  if (record.claimedAt !== undefined) json += `,"claimedAt":"${formatTime(record.claimedAt)}"`;
  return `${json}}`;
}
