import { watch } from 'node:fs';
import type { StatementSync } from 'node:sqlite';
import type { ChangeInterest, RequestChanges } from '../../ports/requestChanges.ts';
import { type CommittedMoves, readSequence as readLast } from './counters.ts';
import type { Snapshot } from './createSnapshot.ts';
import type { QuotedTables } from './tables.ts';

/** How often the file is looked at where the system does not tell of its changes, in milliseconds. */
const TICK_MS = 500;

/** Pause between two looks at what other processes have moved, in milliseconds, and as a multiple of what the last look took. */
const [LEAST_PAUSE_MS, PAUSE_FACTOR] = [5, 10];

/** What has been moved by this process. */
export interface OwnMoves {
  /** Called after each commit, before any write of it is acknowledged. */
  committed(moves: CommittedMoves | undefined): void;
  /** Somebody has moved a request. */
  moved(requestId: string): void;
  /** A request has become pending. */
  appeared(chainName: string): void;
}

/** The changes of one file, which more than one process may write. */
export interface SqliteChanges extends RequestChanges, OwnMoves {
  close(): void;
}

interface Context {
  readonly file: string;
  readonly snapshot: Snapshot;
  readonly statement: (sql: string) => StatementSync;
  readonly tables: QuotedTables;
}

/** What is called for a name. */
type Watchers<T> = Map<string, Set<T>>;

function addTo<T>(watchers: Watchers<T>, name: string, one: T): () => void {
  const ones = watchers.get(name) ?? new Set();
  watchers.set(name, ones.add(one));
  return () => {
    if (ones.delete(one) && ones.size === 0) watchers.delete(name);
  };
}

/** Calls back while somebody listens: whenever the write-ahead log changes, and every tick. */
function followFile(file: string, onEvent: () => void): () => void {
  const tick = setInterval(onEvent, TICK_MS).unref();
  try {
    const watcher = watch(`${file}-wal`, { persistent: false }, onEvent).on('error', () => watcher.close());
    return () => {
      clearInterval(tick);
      watcher.close();
    };
  } catch {
    // The system has no more watches to give: the tick is left.
    return () => clearInterval(tick);
  }
}

/**
 * Tells of moves in a file. What this process moves wakes those who wait for it by name. What others move is found by the number that
 * each commit leaves in the file: only where it has left more behind than this process has committed, all that is waited for is looked up.
 */
export function createRequestChanges({ file, snapshot, statement, tables }: Context): SqliteChanges {
  const requests: Watchers<{ readonly status: string; readonly onChange: () => void }> = new Map();
  const chains: Watchers<() => void> = new Map();
  /** Those who wait for anything, each an object of its own. */
  const anything = new Set<{ readonly onChange: () => void }>();
  /** The last move that those who wait have been told of. */
  let known = 0;
  let stopFollowing: (() => void) | undefined;
  let pause: NodeJS.Timeout | undefined;
  let nextLookAt = 0;

  const readSequence = () => snapshot.read(() => readLast(statement, tables));

  function tellAnything(): void {
    if (anything.size > 0) for (const { onChange } of [...anything]) onChange();
  }

  function watchAnything(onChange: () => void): () => void {
    const one = { onChange };
    anything.add(one);
    return () => anything.delete(one);
  }

  function lookUp(): void {
    tellAnything();
    const select = statement(`SELECT status FROM ${tables.requests} WHERE request_id = ?`);
    for (const [requestId, watchers] of requests) {
      const status = snapshot.read(() => select.get(requestId))?.status;
      for (const watcher of [...watchers]) if (watcher.status !== status) watcher.onChange();
    }
    for (const watchers of chains.values()) for (const onChange of [...watchers]) onChange();
  }

  function look(): void {
    pause = undefined;
    const startedAt = performance.now();
    try {
      const sequence = readSequence();
      if (sequence === known) return;
      known = sequence;
      lookUp();
    } catch {
      // Those who wait read it themselves in the end, and are told what is wrong with the file.
    }
    const now = performance.now();
    nextLookAt = now + Math.max(LEAST_PAUSE_MS, (now - startedAt) * PAUSE_FACTOR);
  }

  function lookSoon(): void {
    if (pause !== undefined) return;
    const inMs = nextLookAt - performance.now();
    if (inMs <= 0) look();
    else pause = setTimeout(look, inMs).unref();
  }

  function follow(): void {
    if (stopFollowing !== undefined) return;
    try {
      known = readSequence();
    } catch {
      // It stays behind, and the first look tells everybody.
    }
    stopFollowing = followFile(file, lookSoon);
  }

  function stop(): void {
    stopFollowing?.();
    stopFollowing = undefined;
    clearTimeout(pause);
    pause = undefined;
  }

  return {
    watch(interest: ChangeInterest, onChange) {
      follow();
      const remove =
        'requestId' in interest
          ? addTo(requests, interest.requestId, { status: interest.status, onChange })
          : 'chainName' in interest
            ? addTo(chains, interest.chainName, onChange)
            : watchAnything(onChange);
      return () => {
        remove();
        if (requests.size === 0 && chains.size === 0 && anything.size === 0) stop();
      };
    },
    committed(moves) {
      // What others have committed between two of this process's own is still to be told.
      if (moves?.after === known) known = moves.last;
    },
    moved(requestId) {
      tellAnything();
      for (const { onChange } of [...(requests.get(requestId) ?? [])]) onChange();
    },
    appeared(chainName) {
      tellAnything();
      for (const onChange of [...(chains.get(chainName) ?? [])]) onChange();
    },
    close: stop,
  };
}
