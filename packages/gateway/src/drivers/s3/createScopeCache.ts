import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { S3Credentials } from './credentials.ts';
import { encodeUri } from './encodeUri.ts';

/** What all signatures of one second share: text made once, and the key of the day. */
export interface SigningScope {
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
 *
 * @param region region as signed
 * @returns function of the credentials and the signing second (milliseconds since the epoch, a whole second)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
export function createScopeCache(region: string): (credentials: S3Credentials, startMs: number) => SigningScope {
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
