import type { Query } from './connect.ts';
import type { PostgresChanges } from './createChanges.ts';
import type { Writer } from './createWriter.ts';
import type { Tables } from './schema.ts';

/** Shared by the stores of one database: they read through a pool, and write by the writer's one connection. */
export interface PostgresContext {
  /** @throws DependencyUnavailableError */
  readonly read: Query;
  readonly writer: Writer;
  readonly changes: PostgresChanges;
  readonly tables: Tables;
}
