export { DirectoryError, makeDirectory } from './files/makeDirectory.ts';
export { assertKnownSchemas, migrateDatabase, NewerSchemaError, type Schema } from './files/migrateDatabase.ts';
export { FileGoneError, openDatabase } from './files/openDatabase.ts';
export { syncDirectory, syncDirectorySync } from './files/syncDirectory.ts';
export { type FileLock, LockHeldError, lockFile, lockKey } from './locks/lockFile.ts';
export {
  type MetricsServer,
  type MetricsSource,
  type Page,
  type PageMaker,
  serveMetrics,
} from './metrics/serveMetrics.ts';
export { waitForSignal } from './process/waitForSignal.ts';
export { type BackOff, type BackOffPolicy, chooseBackOff, createBackOff, pause } from './waiting/backOff.ts';
export { createSemaphore, createTurns, type Permit, type Semaphore, type Turns } from './waiting/createSemaphore.ts';
