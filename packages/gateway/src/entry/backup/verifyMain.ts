/** The thread of `verifyCopy.ts`; imported elsewhere it does nothing. */
import { isMainThread, workerData } from 'node:worker_threads';
import { verifyDatabase } from '../../drivers/sqlite/copyDatabase.ts';

if (!isMainThread) verifyDatabase(workerData);
