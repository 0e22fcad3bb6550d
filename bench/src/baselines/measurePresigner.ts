import { randomBytes } from 'node:crypto';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

/** Both headers that the gateway signs with a put; the presigner would move them into the query, where S3 does not read them. */
const signedHeaders = new Set(['x-amz-checksum-sha256', 'if-none-match']);
const lifetimeSeconds = 60;

/**
 * Measures the official presigner alone: presigned URLs for the same put, with the same signed headers, as the gateway's.
 *
 * @param client one client, shared by all
 * @param params bucket, and how many
 * @returns presigned URLs a second
 */
export async function measurePresigner(
  client: S3Client,
  params: { readonly bucket: string; readonly count: number },
): Promise<number> {
  const commands = Array.from({ length: params.count }, () => {
    const content = randomBytes(32);
    return new PutObjectCommand({
      Bucket: params.bucket,
      Key: `v1/${randomBytes(32).toString('hex')}/${randomBytes(16).toString('hex')}/${content.toString('hex')}`,
      ChecksumSHA256: content.toString('base64'),
      IfNoneMatch: '*',
    });
  });
  const startedAt = performance.now();
  for (const command of commands) {
    await getSignedUrl(client, command, {
      expiresIn: lifetimeSeconds,
      unhoistableHeaders: signedHeaders,
    });
  }
  return (params.count / (performance.now() - startedAt)) * 1000;
}
