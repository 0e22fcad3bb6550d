import { join } from 'node:path';
import type { Environment } from '@prism-gateway/node/settings';
import { createDiskObjects } from '../drivers/disk/createDiskObjects.ts';
import { createS3SignerFromAws } from '../drivers/s3/createS3SignerFromAws.ts';
import type { Mount } from '../ports/gatewayPorts.ts';
import type { Logger } from '../ports/logger.ts';
import type { ObjectSigner } from '../ports/objectSigner.ts';
import type { Settings } from './settings.ts';

export interface Storage {
  readonly signer: ObjectSigner;
  readonly mounts: readonly Mount[];
}

interface StorageContext {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly publicUrl: string;
  readonly signingKey: Uint8Array;
  /** Whether the disk has room for new objects. */
  readonly hasSpace: () => boolean;
  readonly now: () => number;
  readonly logger: Logger;
}

/** Chooses where objects are: a bucket if one is set, else this machine's disk. */
export async function createStorage(context: StorageContext): Promise<Storage> {
  const { settings, environment, publicUrl, signingKey, hasSpace, now, logger } = context;
  if (settings.STORAGE_BUCKET !== undefined) {
    const forcePathStyle = settings.S3_FORCE_PATH_STYLE;
    const signer = await createS3SignerFromAws({ bucket: settings.STORAGE_BUCKET, forcePathStyle, env: environment });
    return { signer, mounts: [] };
  }
  const objects = createDiskObjects({
    directory: join(settings.DATA_DIR, 'objects'),
    publicUrl,
    signingKey,
    maxObjectBytes: settings.MAX_OBJECT_BYTES,
    maxUserBytes: settings.MAX_USER_BYTES,
    hasSpace,
    bindContent: settings.STORAGE_BIND_CONTENT,
    corsOrigins: settings.storageCorsOrigins,
    now,
    logger,
  });
  return { signer: objects.signer, mounts: [{ prefix: '/objects/', fetch: objects.fetch, withApiHeaders: false }] };
}
