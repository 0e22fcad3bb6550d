/** Packed params that one process keeps. */
export interface KeptParams {
  get(paramsKey: string): Uint8Array | undefined;
  /** Keeps params; what was kept longest makes room. */
  keep(paramsKey: string, packed: Uint8Array): void;
}

/**
 * Makes a place for params.
 *
 * @param maxBytes - most that it holds
 */
export function createKeptParams(maxBytes: number): KeptParams {
  const kept = new Map<string, Uint8Array>();
  let size = 0;
  function forget(key: string): void {
    size -= kept.get(key)?.length ?? 0;
    kept.delete(key);
  }
  return {
    get: (key) => kept.get(key),
    keep(key, packed) {
      forget(key);
      kept.set(key, packed);
      size += packed.length;
      for (const oldest of kept.keys()) {
        if (size <= maxBytes) return;
        forget(oldest);
      }
    },
  };
}
