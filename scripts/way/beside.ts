const sqlite = 'packages/gateway/src/drivers/sqlite';

/** Files that run with each call and are not on its way to the disk, with what they do. */
export const BESIDE: Readonly<Record<string, string>> = {
  'packages/crypto/src/keccak/loadKeccak256.ts': "which calls a library's keccak-256",
  'packages/crypto/src/secp256k1/loadSecp256k1.ts': "which calls a library's recovery",
  'packages/gateway/src/drivers/disk/createSpaceGuard.ts': 'which refuses when the disk is full',
  'packages/gateway/src/drivers/prometheus/createMetrics.ts': 'which counts for the metrics',
  'packages/gateway/src/drivers/secp256k1/offloadRecovery.ts': 'which chooses the thread that recovers',
  [`${sqlite}/checkFile.ts`]: 'which refuses when the database file was removed',
  [`${sqlite}/createRequestChanges.ts`]: 'which wakes those who wait',
  [`${sqlite}/createSnapshot.ts`]: 'which has the reads of a turn share a transaction',
  [`${sqlite}/createTally.ts`]: 'which counts for the statistics',
  [`${sqlite}/rateLimitStore.ts`]: "which shares the limits' counts between processes",
  [`${sqlite}/webhookStore.ts`]: 'which wakes the sender of webhooks',
  'packages/gateway/src/entry/boundConnections.ts': 'which counts connections',
  'packages/gateway/src/entry/boundHeads.ts': 'which bounds the heads that have not come in wholly',
  'packages/gateway/src/entry/boundPieces.ts': 'which refuses a body in tiny pieces',
  'packages/gateway/src/entry/serveInTurn.ts': 'which has the calls of a connection wait for each other',
  'packages/gateway/src/entry/wire.ts': 'which gives the clock',
  'packages/gateway/src/ports/rateLimitStore.ts': "which ages the limits' counts",
  'packages/gateway/src/createUuidV7Source.ts': 'which makes ids',
  'packages/runtime/src/logs/createLogger.ts': 'which logs',
  'packages/runtime/src/logs/openLogOutput.ts': 'which logs',
};
