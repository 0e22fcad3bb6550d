import { type FSWatcher, watch } from 'node:fs';
import type { StatementSync } from 'node:sqlite';
import { createWatchers } from '../../ports/createWatchers.ts';
import type { RequestChanges } from '../../ports/requestChanges.ts';
import type { CommittedMoves } from '../sql/createCounterChanges.ts';
import { readSequence as readLast } from './counters.ts';
import type { Snapshot } from './createSnapshot.ts';
import type { QuotedTables } from './tables.ts';

/** How often the file is looked at in any case, and if the system does not report its changes, in milliseconds. */
const [WATCHED_TICK_MS, TICK_MS] = [5000, 500];

/** Pause between two looks at what other processes have moved, in milliseconds, and as a multiple of what the last look took. */
const [LEAST_PAUSE_MS, PAUSE_FACTOR] = [5, 10];

/** The moves made by this process. */
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

/** Calls back while somebody listens: whenever the write-ahead log changes, and every tick. */
function followFile(file: string, onEvent: () => void): () => void {
  let watcher: FSWatcher | undefined;
  let tick: NodeJS.Timeout;
  /** The system reports nothing, or no more. */
  function lookOften(): void {
    watcher?.close();
    clearInterval(tick);
    tick = setInterval(onEvent, TICK_MS).unref();
  }
  tick = setInterval(onEvent, WATCHED_TICK_MS).unref();
  try {
    watcher = watch(`${file}-wal`, { persistent: false }, onEvent).on('error', lookOften);
  } catch {
    lookOften();
  }
  return () => {
    clearInterval(tick);
    watcher?.close();
  };
}

/**
 * Announces moves in a file. What this process moves wakes those who wait for it by name. What others move is found by the number that
 * each commit leaves in the file: only if it has left more behind than this process has committed, all that is waited for is looked up.
 */
export function createRequestChanges({ file, snapshot, statement, tables }: Context): SqliteChanges {
  const watchers = createWatchers();
  /** The last move that those who wait have been notified of. */
  let known = 0;
  let stopFollowing: (() => void) | undefined;
  let pause: NodeJS.Timeout | undefined;
  let nextLookAt = 0;

  const readSequence = () => snapshot.read(() => readLast(statement, tables));

  function lookUp(): void {
    const select = statement(`SELECT status FROM ${tables.requests} WHERE request_id = ?`);
    watchers.lookUp((requestId) => snapshot.read(() => select.get(requestId))?.status);
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
      // Those who wait read it themselves in the end, and get the file's error.
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
      // It stays behind, and the first look notifies everybody.
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
    watch(interest, onChange) {
      follow();
      const remove = watchers.watch(interest, onChange);
      return () => {
        remove();
        if (watchers.isEmpty()) stop();
      };
    },
    committed(moves) {
      // Others' commits between two of this process's own are still to be announced.
      if (moves?.after === known) known = moves.last;
    },
    moved: watchers.moved,
    appeared: watchers.appeared,
    close: stop,
  };
}
