export { DirectoryError, makeDirectory } from './files/makeDirectory.ts';
export { FileGoneError, openDatabase } from './files/openDatabase.ts';
export { syncDirectory, syncDirectorySync } from './files/syncDirectory.ts';
export { type FileLock, LockHeldError, lockFile } from './locks/lockFile.ts';
export { lockKey } from './locks/lockKey.ts';
export {
  type MetricsServer,
  type MetricsSource,
  type Page,
  type PageMaker,
  serveMetrics,
} from './metrics/serveMetrics.ts';
export { waitForSignal } from './process/waitForSignal.ts';
export { type BackOff, type BackOffPolicy, chooseBackOff, createBackOff } from './waiting/backOff.ts';
export { createSemaphore, type Permit, type Semaphore } from './waiting/createSemaphore.ts';
export { createTurns, type Turns } from './waiting/createTurns.ts';
export { pause } from './waiting/pause.ts';
