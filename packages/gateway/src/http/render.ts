import type { RelayerWireRecord } from '@prism-gateway/protocol';
import type { RelayerRecord } from '../ports/relayerStore.ts';
import type { RequestHead, StoredRequest } from '../ports/requestStore.ts';
import type { RequestBatch } from '../requests/claim.ts';

const MS_PER_DAY = 86_400_000;

const pad2 = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

let day = Number.NaN;
/** Date part of `day`, like `2026-01-01T`. */
let dayText = '';

/**
 * Writes a time as the wire has it: ISO 8601, UTC, milliseconds. The date part is kept from call to call, which makes it
 * several times faster than `Date.prototype.toISOString`; lists and reads write two or three times a record.
 *
 * @param ms - whole milliseconds since the epoch, not negative, before the year 10000
 */
export function formatTime(ms: number): string {
  const days = Math.floor(ms / MS_PER_DAY);
  if (days !== day) {
    day = days;
    dayText = new Date(ms).toISOString().slice(0, 11);
  }
  const rest = ms - days * MS_PER_DAY;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const fraction = String(rest - seconds * 1000).padStart(3, '0');
  return `${dayText}${pad2[hours]}:${pad2[minutes - hours * 60]}:${pad2[seconds - minutes * 60]}.${fraction}Z`;
}

/** Writes what follows the params of a record. */
function renderRest(record: RequestHead): string {
  const { createdAt, updatedAt } = record;
  const created = formatTime(createdAt);
  const updated = updatedAt === createdAt ? created : formatTime(updatedAt);
  let json = `"createdAt":"${created}","updatedAt":"${updated}"`;
  if (record.txHash !== undefined) json += `,"txHash":"${record.txHash}"`;
  if (record.errorMessage !== undefined) json += `,"errorMessage":${JSON.stringify(record.errorMessage)}`;
  if (record.claimedBy !== undefined) json += `,"claimedBy":"${record.claimedBy}"`;
  if (record.claimedAt !== undefined) json += `,"claimedAt":"${formatTime(record.claimedAt)}"`;
  return `${json}}`;
}

/**
 * Writes a record as JSON. The params go out as the text they were stored as; every other field but `errorMessage` was
 * checked on its way in to hold nothing that JSON would escape.
 *
 * @param record - without params: they are left out
 * @see docs/specification.md RECORD-1
 */
export function renderRecord(record: RequestHead & Partial<Pick<StoredRequest, 'paramsJson'>>): string {
  const { requestId, chainName, action, signer, status, paramsJson } = record;
  const params = paramsJson === undefined ? '' : `"params":${paramsJson},`;
  return `{"requestId":"${requestId}","chainName":"${chainName}","action":"${action}","signer":"${signer}","status":"${status}",${params}${renderRest(record)}`;
}

/**
 * Writes what came of a batch of claims or reports; its records are without params.
 *
 * @see docs/specification.md BATCH-1, BATCH-7
 */
export function renderBatch({ items, conflicts }: RequestBatch): string {
  const records = items.map((record) => renderRecord(record)).join(',');
  return `{"items":[${records}],"count":${items.length},"conflicts":${JSON.stringify(conflicts)}}`;
}

/** Writes a whitelist record as the wire has it. */
export function renderRelayer(relayer: RelayerRecord): RelayerWireRecord {
  const { address, label, createdAt, updatedAt, suspendedAt, suspendReason } = relayer;
  return {
    address,
    ...(label !== undefined && { label }),
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
    ...(suspendedAt !== undefined && { suspendedAt: formatTime(suspendedAt) }),
    ...(suspendReason !== undefined && { suspendReason }),
  };
}
