import { createHmac, hash } from 'node:crypto';
import type { ObjectOperation, ObjectSigner, SignedOperation, SignOrder } from '../../ports/objectSigner.ts';
import { type BucketAddress, type BucketSettings, findBucketAddress } from './bucketAddress.ts';
import { type CredentialsProvider, limitLifetime, obtainCredentials } from './credentials.ts';
import { encodeUriPath } from './encodeUri.ts';
import { createScopeCache, type SigningScope } from './signingScope.ts';

export interface S3SignerOptions extends BucketSettings {
  readonly credentials: CredentialsProvider;
}

interface Operation {
  readonly method: SignedOperation['method'];
  /** Parameters that follow `X-Amz-SignedHeaders` in canonical order. */
  readonly queryEnd: string;
}

const OPERATIONS: Readonly<Record<ObjectOperation, Operation>> = {
  put: { method: 'PUT', queryEnd: '' },
  get: {
    method: 'GET',
    // What is stored came from a stranger: a browser must save it, never show it in the bucket's origin.
    queryEnd: '&response-content-disposition=attachment&response-content-type=application%2Foctet-stream',
  },
  head: { method: 'HEAD', queryEnd: '' },
  delete: { method: 'DELETE', queryEnd: '' },
};

const NO_HEADERS: Readonly<Record<string, string>> = {};

/**
 * Makes a signer of presigned URLs for S3 and stores that speak its protocol: Signature Version 4 in the query, with an
 * unsigned payload. A `put` with `contentSha256` also signs two headers, by which the store itself checks the content
 * and refuses to overwrite; they stay headers, since S3 ignores a checksum in the query.
 *
 * @param options bucket, region, endpoint, and the source of credentials
 * @returns signer whose URLs end with the credentials at the latest
 * @throws S3SettingsError (`S3_SETTINGS_INVALID`) for a bucket, region or endpoint that cannot be used
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
export function createS3Signer(options: S3SignerOptions): ObjectSigner {
  const address = findBucketAddress(options);
  const findScope = createScopeCache(options.region);

  return {
    async sign(order) {
      const credentials = await obtainCredentials(options.credentials);
      const startMs = Math.floor(order.nowMs / 1000) * 1000;
      const lifetimeSeconds = limitLifetime(credentials, { startMs, lifetimeSeconds: order.lifetimeSeconds });
      const scope = findScope(credentials, startMs);
      return presign(address, scope, { ...order, lifetimeSeconds, nowMs: startMs });
    },
  };
}

function presign(address: BucketAddress, scope: SigningScope, order: SignOrder): SignedOperation {
  const { method, queryEnd } = OPERATIONS[order.operation];
  const checksum = order.operation === 'put' ? toBase64(order.contentSha256) : undefined;
  const path = address.pathPrefix + encodeUriPath(order.objectPath);

  const signedHeaders = checksum === undefined ? 'host' : 'host;if-none-match;x-amz-checksum-sha256';
  const headerLines =
    checksum === undefined
      ? `host:${address.host}\n`
      : `host:${address.host}\nif-none-match:*\nx-amz-checksum-sha256:${checksum}\n`;
  const signedHeadersEncoded = checksum === undefined ? 'host' : 'host%3Bif-none-match%3Bx-amz-checksum-sha256';
  // Written in canonical order, so that it is both what is signed and what is sent.
  const query = `${scope.queryStart}${order.lifetimeSeconds}${scope.queryToken}&X-Amz-SignedHeaders=${signedHeadersEncoded}${queryEnd}`;

  const canonicalRequest = `${method}\n${path}\n${query}\n${headerLines}\n${signedHeaders}\nUNSIGNED-PAYLOAD`;
  const stringToSign = `AWS4-HMAC-SHA256\n${scope.longDate}\n${scope.credentialScope}\n${hash('sha256', canonicalRequest)}`;
  const signature = createHmac('sha256', scope.signingKey).update(stringToSign).digest('hex');

  return {
    url: `${address.origin}${path}?${query}&X-Amz-Signature=${signature}`,
    method,
    headers: checksum === undefined ? NO_HEADERS : { 'if-none-match': '*', 'x-amz-checksum-sha256': checksum },
    expiresAtMs: order.nowMs + order.lifetimeSeconds * 1000,
  };
}

function toBase64(hex: string | undefined): string | undefined {
  return hex === undefined ? undefined : Buffer.from(hex, 'hex').toString('base64');
}
