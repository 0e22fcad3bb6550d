import type { PendingSpace } from '../ports/gatewayPorts.ts';
import type { Logger } from '../ports/logger.ts';
import type { RequestStore } from '../ports/requestStore.ts';
import { noSpace } from './errors.ts';
import { networkOf } from './request.ts';

interface PendingSpaceOptions {
  readonly requests: Pick<RequestStore, 'pendingBytes'>;
  /** Most bytes of all pending requests together; 0: no bound. */
  readonly maxBytes: number;
  /** Bytes that the disk has beyond its reserve; absent: there is no disk that is known. */
  readonly freeDisk?: (() => number) | undefined;
  /** Milliseconds, of a clock that only goes on. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** How long a look at the store and the disk counts, in milliseconds; what was admitted since is added. */
const LOOKED_FOR_MS = 250;
/** A network may hold as many times as much as is free, one peer as much as is free. */
const NETWORK_SHARES = 4;

/**
 * Creates the bound on what is pending: a peer may hold at most as many bytes as are free for all others together. So while there is
 * much room nobody is refused, and as it shrinks those who hold the most are refused first: one peer gets half of it, two get a third each.
 *
 * @see docs/specification.md STORE-11
 */
export function createPendingSpace(options: PendingSpaceOptions): PendingSpace {
  const { requests, maxBytes, freeDisk = () => Number.POSITIVE_INFINITY, now, logger } = options;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looked = { total: 0, free: 0 };
  /** The last look, which may be under way: whoever comes meanwhile waits for it. */
  let looking: Promise<void> = Promise.resolve();
  let admitted = 0;
  const since = new Map<string, number>();
  let isRefusing = false;

  function look(read: NonNullable<RequestStore['pendingBytes']>): Promise<void> {
    if (now() - lookedAt < LOOKED_FOR_MS) return looking;
    lookedAt = now();
    admitted = 0;
    since.clear();
    looking = readSpace(read);
    return looking;
  }

  async function readSpace(read: NonNullable<RequestStore['pendingBytes']>): Promise<void> {
    const [total = 0] = await read(['']);
    const bound = maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes - total;
    looked = { total, free: Math.min(bound, freeDisk()) };
  }

  function note(isRefused: boolean): void {
    if (isRefused && !isRefusing)
      logger.warn({ ...looked, maxBytes }, 'new requests of who holds the most are refused');
    isRefusing = isRefused;
  }

  async function hasShare(holders: readonly string[], bytes: number): Promise<boolean> {
    const read = requests.pendingBytes;
    if (read === undefined) return true;
    await look(read);
    const free = looked.free - admitted - bytes;
    // Nobody can hold more than all together.
    if (looked.total + admitted + bytes <= free) return true;
    const held = await read(holders);
    const isOver = holders.some((holder, i) => {
      const shares = i === 0 ? 1 : NETWORK_SHARES;
      return (held[i] ?? 0) + (since.get(holder) ?? 0) + bytes > free * shares;
    });
    note(isOver);
    return !isOver;
  }

  return {
    async admit(peer, bytes) {
      const network = networkOf(peer);
      const holders = network === undefined ? [peer] : [peer, network];
      if (!(await hasShare(holders, bytes))) throw noSpace();
      admitted += bytes;
      for (const holder of holders) since.set(holder, (since.get(holder) ?? 0) + bytes);
      return holders;
    },
  };
}
