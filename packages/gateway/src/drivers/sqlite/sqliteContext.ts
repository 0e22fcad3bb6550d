import type { DatabaseSync } from 'node:sqlite';
import type { SqliteChanges } from './createRequestChanges.ts';
import type { Snapshot } from './createSnapshot.ts';
import type { Writer } from './createWriter.ts';
import type { QuotedTables } from './tables.ts';

/** Shared by the stores of one file: they read on this thread, and write on the writer's. */
export interface SqliteContext {
  /** A connection for reading, through `snapshot` alone. */
  readonly database: DatabaseSync;
  readonly snapshot: Snapshot;
  readonly writer: Writer;
  readonly changes: SqliteChanges;
  readonly tables: QuotedTables;
}
