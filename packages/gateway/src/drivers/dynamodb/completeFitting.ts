import type { StoredRequest } from '../../ports/requestStore.ts';
import type { ParamsReader } from './paramsReader.ts';
import type { Head } from './requestItem.ts';

/** What a walk has found. */
export interface FoundHeads {
  readonly heads: readonly Head[];
  /** Gives one of them back to the walk, and all that was taken after it. */
  giveBackFrom(index: number): void;
}

/** Heads that are completed first: of the largest params that is a megabyte. */
const FIRST_SLICE = 4;
/** What one BatchGetItem takes. */
const FULL_BATCH = 100;

/** How many more are likely to fit, to judge by those before; at least one. */
function countLikely(room: number, meanBytes: number): number {
  return Math.max(1, Math.min(FULL_BATCH, Math.floor(room / meanBytes)));
}

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
    count = countLikely(maxBytes - bytes, bytes / at);
  }
  return records;
}
