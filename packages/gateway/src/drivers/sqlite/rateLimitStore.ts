import { type RateLimitStore, slidingUse, type Take, type WindowCounts } from '../../ports/rateLimitStore.ts';
import type { UnsentHits } from './accessWrites.ts';
import { readStore } from './createSnapshot.ts';
import type { SqliteContext } from './sqliteContext.ts';

/** How long hits wait before they are shared with the other processes, in milliseconds. */
const SHARE_AFTER_MS = 100;

/** Most clients whose counts are kept in memory; the file knows the others. */
const MAX_CLIENTS = 20_000;

interface Client {
  window: number;
  current: number;
  previous: number;
  /** Hits of `window` that the file does not know yet. */
  unsent: number;
}

export interface SqliteRateLimitStore extends RateLimitStore {
  /** Writes what is not shared yet. */
  flush(): Promise<void>;
}

/**
 * Counters that decide from memory and share their hits through the file every tenth of a second: exact in one process, and
 * among several of one machine late by that much. A limit never waits for the disk.
 */
export function createRateLimitStore({ database, snapshot, writer, tables }: SqliteContext): SqliteRateLimitStore {
  const select = database.prepare(`SELECT hits FROM ${tables.rateLimits} WHERE key = ? AND window = ?`);
  const clients = new Map<string, Client>();
  let late: UnsentHits[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sharing: Promise<void> = Promise.resolve();

  const storedHits = (key: string, window: number) =>
    Number(readStore(() => snapshot.read(() => select.get(key, window)))?.hits ?? 0);

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

  function clientOf(key: string, window: number): Client {
    const known = clients.get(key);
    if (known?.window === window) return known;
    if (known !== undefined) keepHits(key, known);
    else if (clients.size >= MAX_CLIENTS) forgetOldest();
    // The file knows the other processes' hits, and memory those of this one that are still on their way to it.
    const own = known?.window === window - 1 ? known.current : 0;
    const previous = Math.max(own, storedHits(key, window - 1));
    const client = { window, current: storedHits(key, window), previous, unsent: 0 };
    clients.delete(key);
    clients.set(key, client);
    return client;
  }

  /**
   * Takes over what the file says, with the hits that came since they were sent. Counts never fall within a window: a file that
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
    const counts = await writer.write('countHits', sent);
    for (const [i, hits] of sent.entries()) learn(hits, counts[i] ?? { current: 0, previous: 0 });
  }

  /** One share after another: hits that a later one has sent would be missing where the counts of an earlier one are learned. */
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
    take({ key, window, elapsed, limit, hits = 1 }: Take) {
      const client = clientOf(key, window);
      const allowed =
        slidingUse({ current: client.current + hits, previous: client.previous }, { window, elapsed }) <= limit;
      if (allowed) {
        client.current += hits;
        client.unsent += hits;
        shareSoon();
      }
      return { allowed, counts: { current: client.current, previous: client.previous } };
    },
    peek(key, window) {
      const { current, previous } = clientOf(key, window);
      return { current, previous };
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
