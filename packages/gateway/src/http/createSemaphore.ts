import type { Awaitable } from '../ports/awaitable.ts';

/** The right of one act to run as soon as there is room for it. */
export interface Permit {
  /** Waits for room, and runs the act. What `findRoom` throws refuses it. */
  run<T>(act: () => Promise<T>): Promise<T>;
  /** Gives the permit back; to be called in any case, once. */
  release(): void;
}

/**
 * Acquires a permit, and looks for room a first time: what `findRoom` throws then refuses it at once.
 *
 * @param key - acts under one key share its room
 * @param findRoom - how many of them may run now, at least 1
 */
export type AcquirePermit = (key: string, findRoom: () => Awaitable<number>) => Promise<Permit>;

/** The permits held under a key. */
interface Holders {
  /** Permits not given back yet. */
  permits: number;
  running: number;
  /** Counts acts that have failed: each has changed the room. */
  failed: number;
  /** Wake those that wait, the one that came first first. */
  readonly waiting: (() => void)[];
}

/** The room, and how many acts had failed when it was looked for. */
interface Known {
  readonly room: number;
  readonly failed: number;
}

async function look(holders: Holders, findRoom: () => Awaitable<number>): Promise<Known> {
  const { failed } = holders;
  return { failed, room: await findRoom() };
}

/** Begins to run, or waits until another permit has been given back and looks again. */
async function waitForRoom(holders: Holders, findRoom: () => Awaitable<number>, first: Known): Promise<void> {
  for (let known = first; ; known = await look(holders, findRoom)) {
    if (known.failed !== holders.failed) continue;
    if (holders.running < known.room) break;
    await new Promise<void>((resolve) => {
      holders.waiting.push(resolve);
    });
  }
  holders.running += 1;
}

/** Makes a semaphore for each key, with room that may change. Keys under which nobody holds a permit are forgotten. */
export function createSemaphore(): AcquirePermit {
  const byKey = new Map<string, Holders>();

  function join(key: string): Holders {
    const holders = byKey.get(key) ?? { permits: 0, running: 0, failed: 0, waiting: [] };
    byKey.set(key, holders);
    holders.permits += 1;
    return holders;
  }

  function release(key: string, holders: Holders): void {
    holders.permits -= 1;
    if (holders.permits === 0) byKey.delete(key);
    holders.waiting.shift()?.();
  }

  return async function acquire(key, findRoom) {
    const holders = join(key);
    let known: Known;
    try {
      known = await look(holders, findRoom);
    } catch (error) {
      release(key, holders);
      throw error;
    }
    return {
      async run(act) {
        await waitForRoom(holders, findRoom, known);
        try {
          return await act();
        } catch (error) {
          holders.failed += 1;
          throw error;
        } finally {
          holders.running -= 1;
        }
      },
      release: () => release(key, holders),
    };
  };
}
