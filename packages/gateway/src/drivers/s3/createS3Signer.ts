import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { ObjectOperation, ObjectSigner, SignedOperation, SignOrder } from '../../ports/objectSigner.ts';
import { type BucketAddress, type BucketSettings, findBucketAddress } from './bucketAddress.ts';

/** Keys of an AWS account or an S3-compatible store. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Comes with temporary credentials. */
  readonly sessionToken?: string | undefined;
  /** When temporary credentials end, and with them every URL signed with them. */
  readonly expiration?: Date | undefined;
}

/** Gives the credentials valid now; it caches and refreshes by itself. */
export type CredentialsProvider = () => Promise<S3Credentials>;

/** Asks a provider for credentials. @throws DependencyUnavailableError if it fails */
async function obtainCredentials(provider: CredentialsProvider): Promise<S3Credentials> {
  try {
    return await provider();
  } catch (cause) {
    throw new DependencyUnavailableError('object store credentials', { cause });
  }
}

/** Shortens a lifetime so that it ends no later than the credentials do: a store refuses a URL once they have ended. */
function limitLifetime(
  credentials: S3Credentials,
  wish: { readonly startMs: number; readonly lifetimeSeconds: number },
): number {
  if (credentials.expiration === undefined) return wish.lifetimeSeconds;
  const leftSeconds = Math.floor((credentials.expiration.getTime() - wish.startMs) / 1000);
  // Written so that an unreadable date (NaN) is refused too.
  if (!(leftSeconds >= 1)) throw new DependencyUnavailableError('object store credentials');
  return Math.min(wish.lifetimeSeconds, leftSeconds);
}

const RESERVED = /[!'()*]/g;
const PLAIN_PATH = /^[A-Za-z0-9/_.~-]*$/;

/**
 * Percent-encodes text as Signature Version 4 wants it: all bytes of its UTF-8 but the unreserved characters of RFC 3986.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html (UriEncode)
 */
function encodeUri(text: string): string {
  return encodeURIComponent(text).replace(RESERVED, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Percent-encodes an object's key, whose slashes stay as they are. */
function encodeUriPath(path: string): string {
  return PLAIN_PATH.test(path) ? path : path.split('/').map(encodeUri).join('/');
}

/** Shared by all signatures of one second: text made once, and the key of the day. */
interface SigningScope {
  /** `20260131T235959Z`. */
  readonly longDate: string;
  /** `20260131/{region}/s3/aws4_request`. */
  readonly credentialScope: string;
  /** Query up to and without `X-Amz-Expires`'s value, in canonical order. */
  readonly queryStart: string;
  /** `&X-Amz-Security-Token=…` or nothing. */
  readonly queryToken: string;
  /** A key object: `createHmac` takes it six times faster than the bytes. */
  readonly signingKey: KeyObject;
}

interface DayScope {
  readonly credentials: S3Credentials;
  readonly day: string;
  readonly credentialScope: string;
  readonly queryCredential: string;
  readonly queryToken: string;
  readonly signingKey: KeyObject;
}

/**
 * Makes a function that finds the scope of a second, and remembers the last one: the key changes once a day or with the
 * credentials, the rest once a second.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
function createScopeCache(region: string): (credentials: S3Credentials, startMs: number) => SigningScope {
  let day: DayScope | undefined;
  let second: SigningScope | undefined;
  let secondMs = Number.NaN;

  return (credentials, startMs) => {
    if (second !== undefined && secondMs === startMs && day !== undefined && isSame(day.credentials, credentials)) {
      return second;
    }
    const longDate = formatDate(startMs);
    if (day === undefined || day.day !== longDate.slice(0, 8) || !isSame(day.credentials, credentials)) {
      day = makeDayScope(region, credentials, longDate.slice(0, 8));
    }
    secondMs = startMs;
    second = makeSecondScope(day, longDate);
    return second;
  };
}

function isSame(left: S3Credentials, right: S3Credentials): boolean {
  return (
    left === right ||
    (left.accessKeyId === right.accessKeyId &&
      left.secretAccessKey === right.secretAccessKey &&
      left.sessionToken === right.sessionToken)
  );
}

/** `2026-01-31T23:59:59.000Z` without its dashes, colons and milliseconds. */
function formatDate(ms: number): string {
  const iso = new Date(ms).toISOString();
  return `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`;
}

function makeDayScope(region: string, credentials: S3Credentials, day: string): DayScope {
  const credentialScope = `${day}/${region}/s3/aws4_request`;
  const token = credentials.sessionToken;
  return {
    credentials: { ...credentials },
    day,
    credentialScope,
    queryCredential: encodeUri(`${credentials.accessKeyId}/${credentialScope}`),
    queryToken: token ? `&X-Amz-Security-Token=${encodeUri(token)}` : '',
    signingKey: deriveSigningKey(`AWS4${credentials.secretAccessKey}`, [day, region, 's3', 'aws4_request']),
  };
}

function deriveSigningKey(secret: string, parts: readonly string[]): KeyObject {
  const derived = parts.reduce<Buffer>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    Buffer.from(secret),
  );
  return createSecretKey(derived);
}

function makeSecondScope(day: DayScope, longDate: string): SigningScope {
  return {
    longDate,
    credentialScope: day.credentialScope,
    queryStart: `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Content-Sha256=UNSIGNED-PAYLOAD&X-Amz-Credential=${day.queryCredential}&X-Amz-Date=${longDate}&X-Amz-Expires=`,
    queryToken: day.queryToken,
    signingKey: day.signingKey,
  };
}

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
    // The object came from a stranger: a browser must save it, never show it in the bucket's origin.
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

/** The headers that bind a put to its content, its length, both or neither. */
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
