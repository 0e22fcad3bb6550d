/** One holder's part of a budget. */
export interface ByteHold {
  /** Holds more, which may end holders, this one too. @param bytes - how many more, at least 0 */
  grow(bytes: number): void;
  /** Gives all of it back; a second call does nothing. */
  release(): void;
}

/** Bounds the bytes that strangers make the process keep. */
export interface ByteBudget {
  /** @param end - ends the holder, which then releases its hold */
  open(end: () => void): ByteHold;
  /** Bytes that are held now. */
  readonly used: () => number;
  /** Holders that were ended so far, because all together held too much. */
  readonly ended: () => number;
}

interface BudgetOptions {
  /** Most bytes of all holders together. */
  readonly maxBytes: number;
  /** Milliseconds, of a clock that only goes on. */
  readonly now: () => number;
}

interface Holder {
  bytes: number;
  readonly sinceMs: number;
  readonly end: () => void;
}

/** How much of the budget is free once holders were ended: room for a while, so that not every packet looks for the next one. */
const FREED_SHARE = 1 / 8;

/**
 * Creates a budget of bytes. What is too much is taken from those who have cost the most so far, by bytes and time: who sends or reads
 * slowly pays for it, and a client that comes with a usual call always finds room.
 *
 * @see docs/specification.md LIMIT-14
 */
export function createByteBudget({ maxBytes, now }: BudgetOptions): ByteBudget {
  const holders = new Set<Holder>();
  let used = 0;
  let ended = 0;

  function giveBack(holder: Holder): void {
    if (!holders.delete(holder)) return;
    used -= holder.bytes;
  }

  function endTheCostliest(): void {
    const nowMs = now();
    // Also who came this very moment has a cost, by its bytes.
    const costOf = ({ bytes, sinceMs }: Holder) => bytes * (1 + nowMs - sinceMs);
    for (const holder of [...holders].sort((a, b) => costOf(b) - costOf(a))) {
      if (used <= maxBytes * (1 - FREED_SHARE)) return;
      giveBack(holder);
      ended += 1;
      holder.end();
    }
  }

  return {
    open(end) {
      const holder: Holder = { bytes: 0, sinceMs: now(), end };
      holders.add(holder);
      return {
        grow(bytes) {
          if (!holders.has(holder)) return;
          holder.bytes += bytes;
          used += bytes;
          if (used > maxBytes) endTheCostliest();
        },
        release: () => giveBack(holder),
      };
    },
    used: () => used,
    ended: () => ended,
  };
}
