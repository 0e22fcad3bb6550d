import type { StoredRequest } from '../ports/requestStore.ts';
import { renderRecord } from './render.ts';
import type { HttpResponse } from './response.ts';

/** Params from which a rendering is shared, in characters: below it a copy costs less than to look for one. */
const LARGE = 8192;
/** Most renderings that are kept: 4 MB of the largest size. */
const MAX_KEPT = 16;

/** Everything of a record that moves; its params never do. */
const markOf = ({ requestId, status, updatedAt, claimedBy = '', txHash = '', errorMessage = '' }: StoredRequest) =>
  `${requestId} ${status} ${updatedAt} ${claimedBy} ${txHash} ${errorMessage}`;

/**
 * Makes the rendering of single records. A large one is rendered once as long as it stands, however many read it: thousands who wait for
 * one record get the same bytes, which are in memory once.
 */
export function createRecordRenderer(): (record: StoredRequest) => NonNullable<HttpResponse['body']> {
  const kept = new Map<string, Uint8Array<ArrayBuffer>>();
  const encoder = new TextEncoder();
  return function render(record) {
    if (record.paramsJson.length < LARGE) return renderRecord(record);
    const mark = markOf(record);
    const known = kept.get(mark) ?? encoder.encode(renderRecord(record));
    kept.delete(mark);
    kept.set(mark, known);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return known;
  };
}
