/** The official presigner alone: baseline of POST /storage/sign. Started by `startChild`. */
import { S3Client } from '@aws-sdk/client-s3';
import { measurePresigner } from '../baselines/measurePresigner.ts';
import type { PresignerCalls } from '../baselines/presignerCalls.ts';
import { serveCalls } from '../processes/serveCalls.ts';
import { storageSettings } from '../processes/storageSettings.ts';

const client = new S3Client({
  region: storageSettings.AWS_REGION,
  credentials: {
    accessKeyId: storageSettings.AWS_ACCESS_KEY_ID,
    secretAccessKey: storageSettings.AWS_SECRET_ACCESS_KEY,
  },
  // Else the presigner adds a CRC32 of the empty body.
  requestChecksumCalculation: 'WHEN_REQUIRED',
});

serveCalls<PresignerCalls>({
  presign: ({ count }) => measurePresigner(client, { bucket: storageSettings.STORAGE_BUCKET, count }),
});
