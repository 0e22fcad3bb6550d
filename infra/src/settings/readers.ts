import { isIP } from 'node:net';
import { parseSecretArn } from '@prism-gateway/gateway/deployment';
import type { GivenSettings, StackSettingName } from './knownSettings.ts';

/** Takes note of a fault: which setting, and what was expected. */
type Fault = (name: StackSettingName, expected: string) => void;

const HOST_NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d$/;
const CERTIFICATE_ARN = /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[0-9a-f-]{36}$/;
const EMAIL = /^[^\s@,]{1,64}@[^\s@,]+\.[^\s@,]+$/;

function readMatching(form: { readonly test: (text: string) => boolean }, expected: string) {
  return (given: GivenSettings, name: StackSettingName, fault: Fault): string | undefined => {
    const text = given[name];
    if (!text) return undefined;
    if (form.test(text)) return text;
    fault(name, expected);
    return undefined;
  };
}

/** Reads an AWS region. */
export const readRegion = readMatching(REGION, 'an AWS region, like eu-central-1');

/** Reads a host name. */
export const readHostName = readMatching(HOST_NAME, 'a host name in lower case, like api.example.org');

/** Reads a certificate's ARN. */
export const readCertificateArn = readMatching(CERTIFICATE_ARN, 'the ARN of a certificate of ACM');

/** Reads a bucket's name. @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
export const readBucketName = readMatching(
  /^(?!xn--|sthree-)[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]$/,
  "a bucket's name: 3 to 63 of lower-case letters, digits, dots and hyphens",
);

/** Reads a table's stream. */
export const readStreamArn = readMatching(
  /^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]{3,255}\/stream\/[\w.:-]+$/,
  'the ARN of a stream of DynamoDB',
);

/** Reads a word that distinguishes one revision from another. */
export const readRevision = readMatching(/^[\w.:-]{1,64}$/, '1 to 64 of letters, digits and ". _ : -"');

/** Reads a mail address. */
export const readEmail = readMatching(EMAIL, 'a mail address');

/** Reads a secret's ARN, as the function itself does. */
export const readSecretArn = readMatching(
  { test: (text) => parseSecretArn(text) !== undefined },
  'the ARN of a secret in Secrets Manager or of a parameter in SSM',
);

/** Reads one of some words. */
export function readChoice<T extends string>(
  given: GivenSettings,
  name: StackSettingName,
  { choices, fallback }: { readonly choices: readonly T[]; readonly fallback: T },
  fault: Fault,
): T {
  const text = given[name] || fallback;
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) fault(name, `one of ${choices.join(', ')}`);
  return choice ?? fallback;
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
}

/** Reads a whole number. */
export function readWhole(given: GivenSettings, name: StackSettingName, range: Range, fault: Fault): number {
  const { min, max, fallback } = range;
  const text = given[name] || String(fallback);
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  fault(name, `a whole number from ${min} to ${max}`);
  return fallback;
}

const FAMILY_BITS = { 4: 32, 6: 128 } as const;

function isRange(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const family = isIP(address);
  if (more.length > 0 || (family !== 4 && family !== 6)) return false;
  return /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= FAMILY_BITS[family];
}

/** Reads ranges of addresses with commas between. */
export function readRanges(given: GivenSettings, name: StackSettingName, fault: Fault): string[] {
  const ranges = (given[name] ?? '').split(',').flatMap((part) => part.trim() || []);
  if (!ranges.every(isRange)) fault(name, 'CIDR ranges with commas between, like 192.0.2.10/32,2001:db8::/64');
  return ranges;
}

/** An origin as a browser writes it: no path, not even a slash. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && /^https?:$/.test(new URL(text).protocol);
}

/** Production is reached by TLS; what runs on the reader's own machine need not be. */
function isSafeOrigin(text: string): boolean {
  return isOrigin(text) && (text.startsWith('https:') || /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(text));
}

/** Reads web origins with commas between; `none`: none. */
export function readOrigins(given: GivenSettings, name: StackSettingName, fault: Fault): string[] {
  const text = given[name] ?? '';
  if (text === 'none') return [];
  const origins = text.split(',').map((origin) => origin.trim());
  const kept = origins.filter((origin) => origin !== '');
  if (!kept.every(isSafeOrigin))
    fault(name, 'https origins without a path, like https://app.example.org (http for localhost only)');
  return kept;
}
