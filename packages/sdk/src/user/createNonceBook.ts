/**
 * Which forwarder nonces of a signer are spoken for.
 *
 *     free --reserve--> held --stored--> held by a request --settle(success)--> used
 *                        |                     |
 *                        +-----release---------+---settle(failed)---> free
 *
 * A nonce is free when the chain has not used it and no open request holds it. The next request takes the lowest free one: a gap
 * that a failed request left is filled first, or nothing after it could ever run.
 *
 * @see docs/specification.md CHAIN-5
 */
export interface NonceBook {
  /** Takes the lowest free nonce. */
  reserve(): bigint;
  /** Notes which request holds a reserved nonce. */
  store(nonce: bigint, requestId: string): void;
  /** Gives a nonce back: its request was never stored. */
  release(nonce: bigint): void;
  /** Notes how a request ended. @returns whether the chain has to be asked what became of its nonce */
  settle(requestId: string, status: 'success' | 'failed'): boolean;
  /** Notes the chain's nonce. @param nowMs - Unix time in milliseconds */
  reset(nonce: bigint, nowMs: number): void;
  /** The nonce that a request holds. */
  nonceOf(requestId: string): bigint | undefined;
  /** Requests that hold nonces, as far as is known. */
  requests(): readonly (readonly [nonce: bigint, requestId: string])[];
}

/** A nonce that is held, but by no request of the gateway: a signed entry that its user hands to others. */
const NO_REQUEST = '';

/**
 * So long the chain may show less than what has succeeded, in milliseconds. Beyond it no node lags: a reorganisation has undone it, or the
 * relayer that reported it has lied.
 */
const LONGEST_LAG_MS = 900_000;

/** Makes an empty book; `reset` it before the first reservation. */
export function createNonceBook(): NonceBook {
  let base = 0n;
  // Requests that are known to have succeeded: no lagging node may take their nonces back.
  let floor = 0n;
  /** The chain's nonce while it is lower, and since when. */
  let behind: { readonly nonce: bigint; readonly sinceMs: number } | undefined;
  const held = new Map<bigint, string>();
  /** Requests whose nonce another one holds now: the chain may take either. */
  const replaced = new Map<string, bigint>();
  const nonceOf = (requestId: string) => {
    for (const [nonce, holder] of held) if (holder === requestId) return nonce;
    return undefined;
  };
  return {
    reserve() {
      let nonce = base;
      while (held.has(nonce)) nonce++;
      held.set(nonce, NO_REQUEST);
      return nonce;
    },
    store(nonce, requestId) {
      const before = held.get(nonce);
      if (before) replaced.set(before, nonce);
      held.set(nonce, requestId);
    },
    release(nonce) {
      held.delete(nonce);
    },
    settle(requestId, status) {
      const own = nonceOf(requestId);
      const nonce = own ?? replaced.get(requestId);
      replaced.delete(requestId);
      if (own !== undefined) held.delete(own);
      if (nonce === undefined || status === 'failed') return status === 'failed';
      // One that has replaced it can only fail.
      held.delete(nonce);
      if (nonce >= floor) floor = nonce + 1n;
      if (base < floor) base = floor;
      return false;
    },
    reset(nonce, nowMs) {
      // A node that lags now is none that lagged a while ago, at another nonce.
      if (nonce >= floor) behind = undefined;
      else if (behind?.nonce !== nonce) behind = { nonce, sinceMs: nowMs };
      if (behind !== undefined && nowMs - behind.sinceMs >= LONGEST_LAG_MS) floor = nonce;
      base = nonce > floor ? nonce : floor;
      // Requests keep theirs until they have ended: the node may lag behind, and come back to them.
      for (const [own, holder] of held) if (own < base && holder === NO_REQUEST) held.delete(own);
    },
    nonceOf,
    requests: () => [...held].filter(([, holder]) => holder !== NO_REQUEST),
  };
}
