/** The official presigner alone, baseline of POST /storage/sign, and our own signer alone. Started by `startChild`. */
import { S3Client } from '@aws-sdk/client-s3';
import { createS3Signer } from '@prism-gateway/gateway/s3-signer';
import { measureOwnSigner } from '../baselines/measureOwnSigner.ts';
import { measurePresigner } from '../baselines/measurePresigner.ts';
import type { PresignerCalls } from '../baselines/presignerCalls.ts';
import { serveCalls } from '../processes/serveCalls.ts';
import { storageSettings } from '../processes/storageSettings.ts';

const credentials = {
  accessKeyId: storageSettings.AWS_ACCESS_KEY_ID,
  secretAccessKey: storageSettings.AWS_SECRET_ACCESS_KEY,
};
const client = new S3Client({
  region: storageSettings.AWS_REGION,
  credentials,
  // Else the presigner adds a CRC32 of the empty body.
  requestChecksumCalculation: 'WHEN_REQUIRED',
});

const signer = createS3Signer({
  bucket: storageSettings.STORAGE_BUCKET,
  region: storageSettings.AWS_REGION,
  forcePathStyle: false,
  credentials: async () => credentials,
});

serveCalls<PresignerCalls>({
  presign: ({ count }) => measurePresigner(client, { bucket: storageSettings.STORAGE_BUCKET, count }),
  sign: ({ count }) => measureOwnSigner(signer, count),
});
