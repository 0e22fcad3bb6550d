import type { Awaitable } from '../../ports/awaitable.ts';
import { type RateLimitStore, slidingUse, type Take, type WindowCounts } from '../../ports/rateLimitStore.ts';

/** How long hits wait before they are shared with the other processes, in milliseconds. */
const SHARE_AFTER_MS = 100;

/** Most clients whose counts are kept in memory; the database knows the others. */
const MAX_CLIENTS = 20_000;

/** Hits of one client in one window that the database does not know yet. */
export interface UnsentHits {
  readonly key: string;
  readonly window: number;
  readonly hits: number;
}

interface Client {
  window: number;
  current: number;
  previous: number;
  /** Hits of `window` that the database does not know yet. */
  unsent: number;
}

export interface SharedRateLimitStore extends RateLimitStore {
  /** Writes what is not shared yet. */
  flush(): Promise<void>;
}

/** The counters' part of a database. */
export interface CounterDatabase {
  /** Reads the hits of a window and of the one before it. */
  readCounts(key: string, window: number): Awaitable<WindowCounts>;
  /** Adds hits. @returns the counts after them, one a client, in their order */
  countHits(hits: readonly UnsentHits[]): Promise<readonly WindowCounts[]>;
}

/**
 * Counters that decide from memory and share their hits through the database every tenth of a second: exact in one process, and among
 * several late by that much. A limit waits for the database only when a process sees a client for the first time in a window.
 */
export function createSharedRateLimits({ readCounts, countHits }: CounterDatabase): SharedRateLimitStore {
  const clients = new Map<string, Client>();
  let late: UnsentHits[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sharing: Promise<void> = Promise.resolve();

  /** Clients that are being read, so that their first hits meet in one place. */
  const reading = new Map<string, Promise<Client>>();

  function keepHits(key: string, client: Client): void {
    if (client.unsent > 0) late.push({ key, window: client.window, hits: client.unsent });
    client.unsent = 0;
  }

  function forgetOldest(): void {
    for (const [key, client] of clients) {
      keepHits(key, client);
      clients.delete(key);
      return;
    }
  }

  function keepClient(key: string, window: number, stored: WindowCounts): Client {
    const known = clients.get(key);
    if (known !== undefined) keepHits(key, known);
    else if (clients.size >= MAX_CLIENTS) forgetOldest();
    // The database knows the other processes' hits, and memory those of this one that are still on their way to it.
    const own = known?.window === window - 1 ? known.current : 0;
    const client = { window, current: stored.current, previous: Math.max(own, stored.previous), unsent: 0 };
    clients.delete(key);
    clients.set(key, client);
    return client;
  }

  async function readClient(key: string, window: number, stored: Promise<WindowCounts>): Promise<Client> {
    const place = `${window} ${key}`;
    const mine = stored.then((counts) => keepClient(key, window, counts)).finally(() => reading.delete(place));
    reading.set(place, mine);
    return await mine;
  }

  function clientOf(key: string, window: number): Awaitable<Client> {
    const known = clients.get(key);
    if (known?.window === window) return known;
    const underWay = reading.get(`${window} ${key}`);
    if (underWay !== undefined) return underWay;
    const stored = readCounts(key, window);
    return stored instanceof Promise ? readClient(key, window, stored) : keepClient(key, window, stored);
  }

  function takeFrom(client: Client, { window, elapsed, limit, hits = 1 }: Take) {
    const { current, previous } = client;
    const allowed = slidingUse({ current: current + hits, previous }, { window, elapsed }) <= limit;
    if (allowed) {
      client.current += hits;
      client.unsent += hits;
      shareSoon();
    }
    return { allowed, counts: { current: client.current, previous: client.previous } };
  }

  /**
   * Takes over what the database says, with the hits that came since they were sent. Counts never fall within a window: what
   * says less than memory lacks hits of a share that failed.
   */
  function learn({ key, window }: UnsentHits, counts: WindowCounts): void {
    const client = clients.get(key);
    if (client?.window !== window) return;
    client.current = Math.max(client.current, counts.current + client.unsent);
    client.previous = Math.max(client.previous, counts.previous);
  }

  async function share(): Promise<void> {
    timer = undefined;
    for (const [key, client] of clients) keepHits(key, client);
    const sent = late;
    late = [];
    if (sent.length === 0) return;
    const counts = await countHits(sent);
    for (const [i, hits] of sent.entries()) learn(hits, counts[i] ?? { current: 0, previous: 0 });
  }

  /** One share after another: hits that a later one has sent would be missing if the counts of an earlier one are learned. */
  function shareInTurn(): Promise<void> {
    const mine = sharing.then(share);
    // Counts that could not be written are lost to the other processes; the limits of this one go on from memory.
    sharing = mine.catch(() => undefined);
    return mine;
  }

  function shareSoon(): void {
    timer ??= setTimeout(() => void shareInTurn().catch(() => undefined), SHARE_AFTER_MS).unref();
  }

  return {
    take(take) {
      const client = clientOf(take.key, take.window);
      return client instanceof Promise ? client.then((one) => takeFrom(one, take)) : takeFrom(client, take);
    },
    peek(key, window) {
      const countsOf = ({ current, previous }: Client) => ({ current, previous });
      const client = clientOf(key, window);
      return client instanceof Promise ? client.then(countsOf) : countsOf(client);
    },
    *known() {
      for (const [key, { window, current, previous }] of clients) yield { key, window, counts: { current, previous } };
    },
    async flush() {
      clearTimeout(timer);
      await shareInTurn();
    },
  };
}
