import type { StoredRequest } from '../../ports/requestStore.ts';
import type { ParamsReader } from './params.ts';
import type { RequestHeader } from './requestItem.ts';

/** What a walk has found. */
export interface FoundHeads {
  readonly heads: readonly RequestHeader[];
  /** Gives one of them back to the walk, and all that was taken after it. */
  giveBackFrom(index: number): void;
}

/** Heads that are completed first: of the largest params that is a megabyte. */
const FIRST_SLICE = 4;
/**
 * Completes heads with their params, a slice at a time, so that little is read of what has no room. The first that does not fit is
 * given back, and all after it.
 *
 * @param maxBytes - of params in all; the first record has its place in any case
 * @throws DependencyUnavailableError
 */
export async function completeFitting(
  params: ParamsReader,
  { heads, giveBackFrom }: FoundHeads,
  maxBytes: number,
): Promise<StoredRequest[]> {
  const records: StoredRequest[] = [];
  let bytes = 0;
  for (let at = 0, count = FIRST_SLICE; at < heads.length; ) {
    const slice = await params.complete(heads.slice(at, at + count));
    for (const [i, record] of slice.entries()) {
      if (record === undefined) continue;
      bytes += Buffer.byteLength(record.paramsJson);
      if (bytes > maxBytes && records.length > 0) {
        giveBackFrom(at + i);
        return records;
      }
      records.push(record);
    }
    at += slice.length;
    // As many as are likely to fit, to judge by those before.
    count = Math.max(1, Math.floor((maxBytes - bytes) / (bytes / at)));
  }
  return records;
}
