export { DirectoryError, makeDirectory } from './files/makeDirectory.ts';
export {
  assertKnownSchemas,
  CREATE_VERSIONS,
  migrateDatabase,
  NewerSchemaError,
  planMigration,
  type Schema,
  SELECT_VERSIONS,
} from './files/migrateDatabase.ts';
export { FileGoneError, openDatabase } from './files/openDatabase.ts';
export { syncDirectory, syncDirectorySync } from './files/syncDirectory.ts';
export { type FileLock, LockHeldError, lockFile, lockKey } from './locks/lockFile.ts';
export { type PageMaker, serveMetrics } from './metrics/serveMetrics.ts';
export { createClockWatch } from './process/createClockWatch.ts';
export { createHeartbeat, type Heartbeat } from './process/createHeartbeat.ts';
export { waitForSignal } from './process/waitForSignal.ts';
export { chooseBackOff, createBackOff, pause } from './waiting/backOff.ts';
export { createSemaphore, createTurns } from './waiting/createSemaphore.ts';
