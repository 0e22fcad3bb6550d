/** A value of the provider's that is loaded when first needed and loaded anew when it is old. */
export interface RefreshedValue<T> {
  /** The value while it is younger than `maxAgeMs`, else a new one. Past half of that it is loaded anew beside: nobody waits, nor feels an outage. */
  get(): Promise<T>;
  /** A new value because the present one does not suffice; the present one again within `cooldownMs` of its loading. */
  renew(): Promise<T>;
}

export interface RefreshedValueOptions<T> {
  readonly load: () => Promise<T>;
  readonly maxAgeMs: number;
  /** Least time between two loadings that `renew` asks for: strangers may cause those. */
  readonly cooldownMs: number;
  /** How long a failed loading is answered by the same failure, so that an outage does not stampede. */
  readonly backoffMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** True within `spanMs` after `sinceMs`; a clock that was set back counts as out of the span. */
function isWithin(nowMs: number, sinceMs: number, spanMs: number): boolean {
  return nowMs >= sinceMs && nowMs - sinceMs < spanMs;
}

/**
 * Keeps one value of the provider's fresh: one loading at a time, shared by all who wait for it.
 *
 * @param options - how to load, and for how long success and failure hold
 * @returns the value's getter; it throws what `load` throws
 */
export function createRefreshedValue<T>(options: RefreshedValueOptions<T>): RefreshedValue<T> {
  const { now } = options;
  let loaded: { readonly value: T; readonly atMs: number } | undefined;
  let failed: { readonly error: unknown; readonly atMs: number } | undefined;
  let pending: Promise<T> | undefined;

  async function loadNow(): Promise<T> {
    try {
      const atMs = now();
      const value = await options.load();
      loaded = { value, atMs };
      failed = undefined;
      return value;
    } catch (error) {
      failed = { error, atMs: now() };
      throw error;
    }
  }

  function load(): Promise<T> {
    if (pending !== undefined) return pending;
    if (failed !== undefined && isWithin(now(), failed.atMs, options.backoffMs)) return Promise.reject(failed.error);
    pending = loadNow().finally(() => {
      pending = undefined;
    });
    return pending;
  }

  return {
    async get() {
      if (loaded === undefined || !isWithin(now(), loaded.atMs, options.maxAgeMs)) return load();
      const { value, atMs } = loaded;
      // A failure is of no account before the value is too old.
      if (!isWithin(now(), atMs, options.maxAgeMs / 2)) load().catch(() => undefined);
      return value;
    },
    async renew() {
      if (loaded !== undefined && isWithin(now(), loaded.atMs, options.cooldownMs)) return loaded.value;
      return load();
    },
  };
}
