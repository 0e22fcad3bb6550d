import { createHash } from 'node:crypto';
import { type RateLimitStore, slidingUse, type Take, type WindowCounts } from '../../ports/rateLimitStore.ts';
import { queryPage, readNumber, type Table, update } from './items.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** Most clients that one process remembers; the table knows the others. */
const MAX_CLIENTS = 20_000;
/** Longest name of a client that is stored as it is, in bytes: a key of DynamoDB holds 2048. */
const MAX_KEY_BYTES = 1024;
/** How long a counter is kept after its last hit, in seconds: windows are a minute long, and two of them matter. */
const COUNTER_LIFETIME_SECONDS = 180;
/** Calls that a process counts by itself before it adds them to the table, and the part of a limit that they may use. */
const [CALLS_AT_ONCE, PART_AT_ONCE] = [10, 0.01];

/** A client's hits in one window, as this process knows them. */
interface Known {
  readonly window: number;
  /** Hits of the window before. */
  previous: number;
  /** Whether the table was asked for those. */
  knowsPrevious: boolean;
  /** Hits that the window has at least: they only grow. */
  current: number;
  /** Hits, and the calls that they came by, that the table does not know yet. */
  unsent: { hits: number; calls: number };
}

interface RateLimitTable extends Table {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

function storedName(key: string): string {
  if (Buffer.byteLength(key) <= MAX_KEY_BYTES) return key;
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** Reads a window's count and that of the window before, in one call. */
async function readCounts(table: RateLimitTable, key: string, window: number): Promise<WindowCounts> {
  const { items } = await queryPage(table, {
    keys: 'client = :client AND #window BETWEEN :previous AND :current',
    values: { ':client': storedName(key), ':previous': window - 1, ':current': window },
    consistent: true,
  });
  const hits = new Map(items.map((item) => [readNumber(item, 'window'), readNumber(item, 'hits')]));
  return { current: hits.get(window) ?? 0, previous: hits.get(window - 1) ?? 0 };
}

/** Adds hits to a window. @returns those that it then has */
async function addHits(table: RateLimitTable, { key, window }: Take, hits: number): Promise<number> {
  const expiresAt = Math.ceil(table.now() / 1000) + COUNTER_LIFETIME_SECONDS;
  const { item = {} } = await update(table, {
    key: { client: storedName(key), window },
    ...{ set: { [TTL_ATTRIBUTE]: expiresAt }, add: { hits } },
  });
  return readNumber(item, 'hits');
}

/** Whether it is time to report to the table: so many calls, or so much of the limit. Of a small limit, that is each hit. */
const isDue = ({ unsent: { hits, calls } }: Known, limit: number) =>
  calls >= CALLS_AT_ONCE || hits >= Math.max(1, Math.floor(limit * PART_AT_ONCE));

/**
 * Counters in DynamoDB. A process decides by what it knows, and adds what it has counted after ten calls, or a hundredth of the limit: so
 * much it may count too little of what comes through other processes meanwhile. Limits below 200, as those of failed authentications
 * are, are reported with each hit. Whoever is over the limit is refused from memory: a flood costs nothing.
 *
 * After a lost answer the client's further try may count hits twice: a limit may then come early, never late.
 *
 * @see docs/specification.md LIMIT-1
 */
export function createRateLimitStore(table: RateLimitTable): RateLimitStore {
  const clients = new Map<string, Known>();

  function remember(key: string, known: Known): Known {
    clients.delete(key);
    clients.set(key, known);
    if (clients.size <= MAX_CLIENTS) return known;
    const [oldest] = clients.keys();
    if (oldest !== undefined) clients.delete(oldest);
    return known;
  }

  function knownOf({ key, window }: Take): Known {
    const known = clients.get(key);
    if (known?.window === window) return known;
    const previous = known?.window === window - 1 ? known.current : 0;
    const unsent = { hits: 0, calls: 0 };
    return remember(key, { window, previous, knowsPrevious: false, current: 0, unsent });
  }

  /** Reports to the table, and learns what others have counted. */
  async function flush(known: Known, take: Take): Promise<void> {
    const { hits, calls } = known.unsent;
    known.unsent = { hits: 0, calls: 0 };
    try {
      if (!known.knowsPrevious) {
        const { previous } = await readCounts(table, take.key, take.window);
        known.previous = Math.max(known.previous, previous);
        known.knowsPrevious = true;
      }
      const total = await addHits(table, take, hits);
      known.current = Math.max(known.current, total + known.unsent.hits);
    } catch (error) {
      known.unsent = { hits: known.unsent.hits + hits, calls: known.unsent.calls + calls };
      throw error;
    }
  }

  return {
    async take(take) {
      const { limit, hits = 1 } = take;
      const known = knownOf(take);
      const { current, previous } = known;
      if (slidingUse({ current: current + hits, previous }, take) > limit) {
        return { allowed: false, counts: { current, previous } };
      }
      known.current += hits;
      known.unsent.hits += hits;
      known.unsent.calls++;
      if (isDue(known, limit)) await flush(known, take);
      return { allowed: true, counts: { current: known.current, previous: known.previous } };
    },
    async peek(key, window) {
      const counts = await readCounts(table, key, window);
      const known = clients.get(key);
      const unsent = known?.window === window ? known.unsent.hits : 0;
      return { current: counts.current + unsent, previous: counts.previous };
    },
    *known() {
      for (const [key, { window, current, previous }] of clients) yield { key, window, counts: { current, previous } };
    },
  };
}
