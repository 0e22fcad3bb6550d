import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { readBytes, readItems } from './items.ts';
import type { RequestHeader, RequestTable } from './record.ts';

/** The entries found by a walk. */
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
    // As many as are likely to fit, to evaluate by those before.
    count = Math.max(1, Math.floor((maxBytes - bytes) / (bytes / at)));
  }
  return records;
}

/**
 * A dictionary of typical params for the compressor: texts in it cost almost nothing. It is part of the stored format: another dictionary
 * makes what is stored unreadable.
 */
const DICTIONARY = Buffer.from(
  '{"requests":[{"fundAmount":"0","relayerFundAmount":"0","salt":"0x","permit":{"deadline":"","newOwner":"0x","dataIds":["0x","payloads":["0x","0x"],"cloudId":"0x","dataId":"0x","payload":"0x000000000000000000000000000000","relayerFee":"1000000000000000000","timestamp":"1800000000","signer":"0x","v":27,"r":"0x","s":"0x"}',
);

/**
 * Hex digits of random bytes hold no repetitions worth a reference, so short ones are left alone (`Z_FILTERED`): 200 kB become
 * 101.7 kB instead of 108.3 kB, which is seven write units.
 */
const options = { dictionary: DICTIONARY, level: 5, strategy: constants.Z_FILTERED };

/** Characters of JSON from which compressing is left to another thread: it takes half a millisecond. */
const LARGE = 16_384;

const deflateElsewhere = promisify<Buffer, typeof options, Buffer>(deflateRaw);
const inflateElsewhere = promisify<Uint8Array, typeof options, Buffer>(inflateRaw);

/**
 * Compresses params; hex digits become half as long.
 *
 * @param json - JSON text
 * @returns raw deflate (RFC 1951) with this format's dictionary
 */
export async function packParams(json: string): Promise<Uint8Array> {
  const plain = Buffer.from(json);
  return json.length < LARGE ? deflateRawSync(plain, options) : await deflateElsewhere(plain, options);
}

/** @param packed - as `packParams` made it @returns the JSON text */
export async function unpackParams(packed: Uint8Array): Promise<string> {
  const plain = packed.length < LARGE ? inflateRawSync(packed, options) : await inflateElsewhere(packed, options);
  return plain.toString('utf8');
}

/** Packed params that one process keeps. */
interface ParamsCache {
  get(paramsKey: string): Uint8Array | undefined;
  /** Keeps params; what was kept longest makes room. */
  keep(paramsKey: string, packed: Uint8Array): void;
}

/** Makes a place for params. @param maxBytes - most that it holds */
export function createParamsCache(maxBytes: number): ParamsCache {
  const cache = new Map<string, Uint8Array>();
  let size = 0;
  function forget(key: string): void {
    size -= cache.get(key)?.length ?? 0;
    cache.delete(key);
  }
  return {
    get: (key) => cache.get(key),
    keep(key, packed) {
      forget(key);
      cache.set(key, packed);
      size += packed.length;
      for (const oldest of cache.keys()) {
        if (size <= maxBytes) return;
        forget(oldest);
      }
    },
  };
}

/** Most bytes of packed params that one process keeps. */
const MAX_CACHED_BYTES = 8 * 1024 * 1024;

/** Completes records with their params. */
export interface ParamsReader {
  /**
   * Reads the params that have items of their own; the others are in the heads already.
   *
   * @returns the records in the given order; undefined if they are gone
   */
  complete(heads: readonly RequestHeader[]): Promise<(StoredRequest | undefined)[]>;
  /** Keeps params that were just written. */
  keep(paramsKey: string, packed: Uint8Array): void;
}

/**
 * Makes a reader of params. Params never change, so what was read once is kept: the list that shows a large request to a relayer
 * pays for its claim and its report, too.
 */
export function createParamsReader(table: RequestTable): ParamsReader {
  const cache = createParamsCache(MAX_CACHED_BYTES);

  async function fetchParams(keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    for (const key of keys) {
      const packed = cache.get(key);
      if (packed !== undefined) found.set(key, packed);
    }
    // A plain read costs half; only what was written a moment ago may be missing from it.
    for (const consistent of [false, true]) {
      const missing = keys.filter((key) => !found.has(key));
      if (missing.length === 0) break;
      const items = await readItems(table, missing, { consistent });
      for (const [key, item] of items) found.set(key, readBytes(item, 'params'));
    }
    for (const [key, packed] of found) cache.keep(key, packed);
    return found;
  }

  return {
    keep: cache.keep,
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
