import { join } from 'node:path';
import { type Environment, oneOf, parseEnvironment } from '@prism-gateway/runtime/settings';
import * as z from 'zod/mini';
import { BackupError } from './backupTarget.ts';

/** What a backup must know of the gateway's settings. */
export interface BackupSettings {
  readonly dataDir: string;
  readonly stage: 'dev' | 'prod';
  readonly databaseFile: string;
  /** Whether objects are under `DATA_DIR`, and not in a bucket. */
  readonly keepsObjects: boolean;
}

const schema = z.object({
  STAGE: z._default(oneOf(['dev', 'prod']), 'dev'),
  STORE: z._default(oneOf(['sqlite', 'dynamodb']), 'sqlite'),
  DATA_DIR: z._default(z.string(), './data'),
  STORAGE_BUCKET: z.optional(z.string()),
});

/**
 * Reads from the gateway's own environment where its data are.
 *
 * @throws SettingsError; BackupError `BACKUP_REFUSED` where the queue is in DynamoDB
 */
export function readBackupSettings(environment: Environment): BackupSettings {
  const settings = parseEnvironment({ schema }, environment);
  if (settings.STORE === 'dynamodb') {
    throw new BackupError(
      'BACKUP_REFUSED',
      'STORE=dynamodb keeps the queue in DynamoDB, which has point-in-time recovery of its own: see docs/operations-aws.md.',
    );
  }
  return {
    dataDir: settings.DATA_DIR,
    stage: settings.STAGE,
    databaseFile: join(settings.DATA_DIR, `gateway-${settings.STAGE}.db`),
    keepsObjects: settings.STORAGE_BUCKET === undefined,
  };
}
