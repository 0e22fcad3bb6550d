import type { RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '@prism-gateway/sdk';
import type { Events } from '../events/events.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { FeedPage, QueueCalls } from './requestGateway.ts';

/** Stands for the oldest request among saved cursors. */
const OLDEST = '';
/** Most old cursors that are kept: the oldest one covers those between. */
const MAX_WALKS = 4;

/** Drops lapsed claims, which the feed gives beside the pending requests: they are taken over in another way (RELAY-9). */
export function pendingOf(items: readonly RequestRecord[]): RequestRecord[] {
  return items.filter(({ status }) => status === 'pending');
}

/** The requests posted while nobody followed the feed. */
interface Backlog {
  /** Whether there is more, and it can be read. */
  hasMore(): boolean;
  /** Reads a page of it. @returns none if it cannot be read now */
  take(): Promise<readonly RequestRecord[]>;
  /** Walks from the oldest request on, through what was looked at before, instead of all other walks. */
  restart(): void;
  /** The same, as well as all other walks. */
  walkAgain(): void;
  /** Where a restart would have to go on. @param live - where the live feed stands */
  mark(live: string): readonly string[];
}

/** A walk through what was posted before the live feed began, from a cursor on; undefined: from the oldest. */
interface Walk {
  cursor: string | undefined;
  /** It goes through what has been looked at before: what was left then is recalled when its time has come. */
  isRepeated?: boolean;
}

function loadWalks(saved: readonly string[]): Walk[] {
  if (saved.length === 0) return [{ cursor: undefined }];
  const kept = saved.length <= MAX_WALKS ? saved : [...saved.slice(0, 1), ...saved.slice(1 - MAX_WALKS)];
  return kept.map((cursor) => (cursor === OLDEST ? { cursor: undefined, isRepeated: true } : { cursor }));
}

/** Makes the walks through a feed's past, as the journal knows them. The next page is read while the one before is evaluated. */
export function createBacklog(options: {
  readonly calls: QueueCalls;
  readonly journal: Journal;
  readonly events: Events;
  readonly signal: AbortSignal;
}): Backlog {
  const { calls, journal, events, signal } = options;
  let walks: readonly Walk[] = loadWalks(journal.cursors());
  let next: { readonly walk: Walk; readonly page: Promise<FeedPage | undefined> } | undefined;
  let isStuck = false;

  async function read(walk: Walk): Promise<FeedPage | undefined> {
    try {
      const page = await calls.feed({ cursor: walk.cursor, wait: 0 });
      isStuck = false;
      return page;
    } catch (error) {
      isStuck = true;
      if (isGatewayError(error, 'VALIDATION_FAILED')) Object.assign(walk, { cursor: undefined, isRepeated: true });
      else if (!signal.aborted) events.emit({ type: 'fault', where: 'gateway' });
      return undefined;
    }
  }

  /** Reads ahead. A walk has ended when there is nothing behind its cursor. */
  function advance(walk: Walk, page: FeedPage): void {
    // Others have taken its place meanwhile.
    if (!walks.includes(walk)) return;
    walk.cursor = page.cursor;
    if (page.items.length === 0) walks = walks.filter((other) => other !== walk);
    else next = { walk, page: read(walk) };
  }

  return {
    hasMore: () => walks.length > 0 && !isStuck,
    async take() {
      // The newest first: what was posted while this relayer was away waits for no older junk.
      const walk = walks.at(-1);
      if (walk === undefined) return [];
      const page = await (next?.walk === walk ? next.page : read(walk));
      next = undefined;
      if (page === undefined) return [];
      advance(walk, page);
      const pending = pendingOf(page.items);
      return walk.isRepeated === true ? pending.filter(({ requestId }) => !journal.isLeft(requestId)) : pending;
    },
    restart() {
      walks = [{ cursor: undefined, isRepeated: true }];
    },
    walkAgain() {
      const rest = walks.filter(({ cursor, isRepeated }) => cursor !== undefined && !isRepeated);
      walks = [{ cursor: undefined, isRepeated: true }, ...rest];
    },
    mark: (live) => [...walks.map(({ cursor }) => cursor ?? OLDEST), live],
  };
}
