import { createHmac, hash } from 'node:crypto';
import type { ObjectOperation, ObjectSigner, SignedOperation, SignOrder } from '../../ports/objectSigner.ts';
import { type BucketAddress, type BucketSettings, findBucketAddress } from './bucketAddress.ts';
import { createScopeCache, type SigningScope } from './createScopeCache.ts';
import { type CredentialsProvider, limitLifetime, obtainCredentials } from './credentials.ts';
import { encodeUriPath } from './encodeUri.ts';

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
 * and refuses to overwrite; they stay headers, since S3 ignores a checksum in the query. One with `size` signs `content-length`.
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
  const headers = order.operation === 'put' ? headersOf(order) : NO_HEADERS;
  const path = address.pathPrefix + encodeUriPath(order.objectPath);

  const signed = Object.entries({ ...headers, host: address.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name);
  const signedHeaders = names.join(';');
  const headerLines = signed.map(([name, value]) => `${name}:${value}\n`).join('');
  // Written in canonical order, so that it is both what is signed and what is sent.
  const query = `${scope.queryStart}${order.lifetimeSeconds}${scope.queryToken}&X-Amz-SignedHeaders=${names.join('%3B')}${queryEnd}`;

  const canonicalRequest = `${method}\n${path}\n${query}\n${headerLines}\n${signedHeaders}\nUNSIGNED-PAYLOAD`;
  const stringToSign = `AWS4-HMAC-SHA256\n${scope.longDate}\n${scope.credentialScope}\n${hash('sha256', canonicalRequest)}`;
  const signature = createHmac('sha256', scope.signingKey).update(stringToSign).digest('hex');

  return {
    url: `${address.origin}${path}?${query}&X-Amz-Signature=${signature}`,
    method,
    headers,
    expiresAtMs: order.nowMs + order.lifetimeSeconds * 1000,
  };
}

/** What a put is bound to: its content, its length, both or neither. */
function headersOf({ contentSha256, size }: SignOrder): Readonly<Record<string, string>> {
  if (contentSha256 === undefined && size === undefined) return NO_HEADERS;
  return {
    ...(size !== undefined && { 'content-length': String(size) }),
    ...(contentSha256 !== undefined && {
      'if-none-match': '*',
      'x-amz-checksum-sha256': Buffer.from(contentSha256, 'hex').toString('base64'),
    }),
  };
}
