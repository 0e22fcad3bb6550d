import type { StoredRequest } from '../../ports/requestStore.ts';
import { readBytes } from './attributes.ts';
import { createKeptParams } from './keptParams.ts';
import { unpackParams } from './paramsCodec.ts';
import { readItems } from './readItems.ts';
import type { Head } from './requestItem.ts';
import type { RequestTable } from './requestTable.ts';

/** Most bytes of packed params that one process keeps. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Completes records with their params. */
export interface ParamsReader {
  /**
   * Reads the params that have items of their own; the others are in the heads already.
   *
   * @returns the records in the given order; undefined where the params have expired
   * @throws DependencyUnavailableError
   */
  complete(heads: readonly Head[]): Promise<(StoredRequest | undefined)[]>;
  /** Keeps params that were just written. */
  keep(paramsKey: string, packed: Uint8Array): void;
}

/**
 * Makes a reader of params. Params never change, so what was read once is kept: the list that shows a large request to a relayer
 * pays for its claim and its report, too.
 */
export function createParamsReader(table: RequestTable): ParamsReader {
  const kept = createKeptParams(MAX_KEPT_BYTES);

  async function fetchParams(keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    for (const key of keys) {
      const packed = kept.get(key);
      if (packed !== undefined) found.set(key, packed);
    }
    // A plain read costs half; only what was written a moment ago may be missing from it.
    for (const consistent of [false, true]) {
      const missing = keys.filter((key) => !found.has(key));
      if (missing.length === 0) break;
      const items = await readItems(table, missing, { consistent });
      for (const [key, item] of items) found.set(key, readBytes(item, 'params'));
    }
    for (const [key, packed] of found) kept.keep(key, packed);
    return found;
  }

  return {
    keep: kept.keep,
    async complete(heads) {
      const keys = heads.flatMap(({ params }) => (typeof params === 'string' ? [params] : []));
      const fetched = await fetchParams(keys);
      return await Promise.all(
        heads.map(async ({ record, params }) => {
          const packed = typeof params === 'string' ? fetched.get(params) : params;
          return packed === undefined ? undefined : { ...record, paramsJson: await unpackParams(packed) };
        }),
      );
    },
  };
}
