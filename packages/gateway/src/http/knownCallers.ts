/** Callers whose authentication has succeeded before, each from a peer of its own. */
export interface KnownCallers {
  has(caller: string): boolean;
  add(caller: string): void;
}

/** Most callers that are remembered, some 200 bytes each. */
const MAX_KNOWN = 10_000;

/** Creates the memory: the ones that were not heard of for the longest are forgotten first. */
export function createKnownCallers(): KnownCallers {
  const known = new Set<string>();
  return {
    has: (caller) => known.has(caller),
    add(caller) {
      known.delete(caller);
      known.add(caller);
      if (known.size <= MAX_KNOWN) return;
      const [oldest] = known;
      if (oldest !== undefined) known.delete(oldest);
    },
  };
}
