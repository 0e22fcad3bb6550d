import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { userPathOf } from '../../rules/objectPath.ts';
import { ObjectRefusedError } from './objectRefusedError.ts';

/** Room that an upload takes while it comes in. */
export interface Reservation {
  /** @param bytes - that have come; 0 before the first of them @throws ObjectRefusedError `OBJECT_QUOTA_EXCEEDED` */
  grow(bytes: number): void;
  /** Keeps what was taken: the object is stored. */
  keep(): void;
  /** Gives back what was not kept. */
  release(): void;
}

/** What each user's objects take of the disk. */
export interface UserQuota {
  /** @param objectPath `v1/{user}/{project}/{key}` */
  open(objectPath: string): Promise<Reservation>;
  /** Notes that an object is gone. @param bytes - it had */
  freed(objectPath: string, bytes: number): void;
}

/** Most users whose use is remembered, some 200 bytes each. */
const MAX_USERS = 10_000;
/** How long a sum counts, in milliseconds: other processes store in the same directory. */
const SUM_FOR_MS = 600_000;

/** Bytes of a user. */
interface Use {
  stored: number;
  /** Of uploads that have not ended. */
  incoming: number;
}

/** A use, which may still be added up. */
interface KnownUse {
  readonly use: Promise<Use>;
  readonly summedAt: number;
}

/** What a file system gives at once, in bytes. */
const BLOCK_BYTES = 4096;

/** What an object takes of the disk: its blocks, and one for its name, so that empty ones are not free. */
const roomOf = (bytes: number) => (Math.ceil(bytes / BLOCK_BYTES) + 1) * BLOCK_BYTES;

/** Lists a directory's entries, few at a time: there may be millions. One that cannot be read has none. */
async function* list(directory: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(directory)) yield join(directory, name);
  } catch {
    // Most users have none yet. A sum that failed would stand in their way until the next start.
  }
}

/** Adds up the room of all objects of a user, and of its projects, which outlast their objects. @param directory - of the projects */
async function sumRoom(directory: string): Promise<number> {
  let sum = 0;
  for await (const project of list(directory)) {
    sum += BLOCK_BYTES;
    for await (const path of list(project)) {
      // It may be deleted meanwhile.
      sum += await stat(path).then(
        ({ size }) => roomOf(size),
        () => 0,
      );
    }
  }
  return sum;
}

interface QuotaOptions {
  /** Directory of the objects. */
  readonly directory: string;
  /** Most bytes of one user; 0: no bound. */
  readonly maxBytes: number;
  readonly now: () => number;
}

/**
 * Creates the quotas. A user's objects are added up once and then counted along, those that are still coming in included.
 *
 * @see docs/specification.md OBJECT-14
 */
export function createUserQuota({ directory, maxBytes, now }: QuotaOptions): UserQuota {
  const uses = new Map<string, KnownUse>();

  /** What is coming in goes on to count. */
  async function sum(user: string, before: Promise<Use> | undefined): Promise<Use> {
    const use = (await before) ?? { stored: 0, incoming: 0 };
    use.stored = await sumRoom(join(directory, user));
    return use;
  }

  /** Uploads that begin at once count together. */
  function useOf(user: string): Promise<Use> {
    const known = uses.get(user);
    if (known !== undefined && now() - known.summedAt < SUM_FOR_MS) return known.use;
    const use = sum(user, known?.use);
    uses.delete(user);
    uses.set(user, { use, summedAt: now() });
    const [oldest] = uses.keys();
    if (uses.size > MAX_USERS && oldest !== undefined) uses.delete(oldest);
    return use;
  }

  return {
    async open(objectPath) {
      if (maxBytes === 0) return { grow: () => undefined, keep: () => undefined, release: () => undefined };
      const use = await useOf(userPathOf(objectPath));
      let [received, taken] = [0, 0];
      function release(): void {
        use.incoming -= taken;
        taken = 0;
      }
      return {
        grow(bytes) {
          const more = roomOf(received + bytes) - taken;
          if (use.stored + use.incoming + more > maxBytes) throw new ObjectRefusedError('OBJECT_QUOTA_EXCEEDED');
          received += bytes;
          use.incoming += more;
          taken += more;
        },
        keep() {
          use.stored += taken;
          release();
        },
        release,
      };
    },
    freed(objectPath, bytes) {
      void uses.get(userPathOf(objectPath))?.use.then((use) => {
        use.stored = Math.max(0, use.stored - roomOf(bytes));
      });
    },
  };
}
