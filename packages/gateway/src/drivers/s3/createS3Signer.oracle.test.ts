import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SignOrder } from '../../ports/objectSigner.ts';
import { createS3Signer, type S3SignerOptions } from './createS3Signer.ts';

type Setup = Omit<S3SignerOptions, 'credentials'>;
interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex'));
const objectPath = fc.tuple(hex(32), hex(16), hex(32)).map((parts) => `v1/${parts.join('/')}`);
// Any text that is UTF-8; `.` and `..` segments are left out, since no HTTP client sends them.
const anyKey = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .filter((key) => !key.split('/').some((segment) => segment === '.' || segment === '..'));
const text = (minLength: number) => fc.string({ unit: 'grapheme-ascii', minLength, maxLength: 60 });

const region = fc.constantFrom(
  ...['us-east-1', 'eu-central-1', 'ap-southeast-2', 'cn-north-1', 'cn-northwest-1', 'us-gov-west-1', 'us-iso-east-1'],
  ...['us-isob-east-1', 'eu-isoe-west-1', 'us-isof-south-1', 'eusc-de-east-1', 'xx-moon-7', 'auto', 'garage'],
);
const bucket = fc.constantFrom(
  ...[
    'objects',
    'my-bucket-01',
    'abc',
    'a.bucket.with.dots',
    'three.dots.name',
    'Upper-Case',
    'under_score',
    '1.2.3.4',
  ],
  ...['my.1.2.3.4.bucket', 'two..dots', `l${'o'.repeat(61)}ng`, `t${'o'.repeat(70)}-long`, 'alias-abcdef123-s3alias'],
);
const endpoint = fc.constantFrom(
  ...[undefined, undefined, 'http://localhost:9000', 'https://store.example', 'https://store.example:8443/base/path'],
  ...['http://127.0.0.1:9000', 'http://[::1]:9000', 'http://store.example:80/', 'https://store.example/s3/'],
);
const setup: fc.Arbitrary<Setup> = fc
  .record({ bucket, region, endpoint, forcePathStyle: fc.boolean(), useFips: fc.boolean(), useDualStack: fc.boolean() })
  .map((value) => (value.endpoint === undefined ? value : { ...value, useFips: false, useDualStack: false }))
  .filter((value) => !(value.useFips && value.region.startsWith('cn-')))
  .map((value) => (isBeyondTheSdk(value) ? { ...value, forcePathStyle: true } : value));

/**
 * The SDK doubles a base path's last slash when the bucket is in the host name, and puts a bucket with dots before an IP
 * address. Both give URLs that nobody wants; `bucketAddress.test.ts` says what is done instead.
 */
function isBeyondTheSdk({ bucket, endpoint }: { bucket: string; endpoint: string | undefined }): boolean {
  return endpoint?.endsWith('/s3/') === true || (bucket.includes('.') && /127|\[::1\]/.test(endpoint ?? ''));
}

const keys: fc.Arbitrary<Keys> = fc.record(
  { accessKeyId: text(1), secretAccessKey: text(1), sessionToken: text(1) },
  { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
);

const order: fc.Arbitrary<SignOrder> = fc.record(
  {
    operation: fc.constantFrom('put', 'get', 'head', 'delete'),
    objectPath: fc.oneof(objectPath, anyKey),
    nowMs: fc.integer({ min: Date.UTC(2015, 0), max: Date.UTC(2099, 11, 31) }),
    lifetimeSeconds: fc.integer({ min: 1, max: 604_800 }),
    contentSha256: hex(32),
    size: fc.nat(),
  },
  { requiredKeys: ['operation', 'objectPath', 'nowMs', 'lifetimeSeconds'] },
);

test('signs what the official presigner signs, for any key, region, endpoint, style, credentials and time', async () => {
  const run = async (where: Setup, credentials: Keys, what: SignOrder) => {
    const signed = await createS3Signer({ ...where, credentials: async () => credentials }).sign(what);
    const official = new URL(await presignOfficially(where, credentials, what));
    const ours = new URL(signed.url);

    expect(`${ours.origin}${ours.pathname}`).toBe(`${official.origin}${official.pathname}`);
    expect(Object.fromEntries(ours.searchParams)).toEqual(Object.fromEntries(official.searchParams));
    expect(ours.searchParams.size).toBe(official.searchParams.size);
    expect(ours.href).toBe(signed.url);
  };
  await fc.assert(fc.asyncProperty(setup, keys, order, run), { numRuns: 300 });
});

/** The same order, by the official client and presigner, kept from hoisting the checksum and from adding its own. */
async function presignOfficially(where: Setup, credentials: Keys, what: SignOrder): Promise<string> {
  const client = new S3Client({
    region: where.region,
    // A copy: the client writes into it.
    credentials: { ...credentials },
    forcePathStyle: where.forcePathStyle,
    useFipsEndpoint: where.useFips ?? false,
    useDualstackEndpoint: where.useDualStack ?? false,
    ...(where.endpoint === undefined ? {} : { endpoint: where.endpoint }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  client.middlewareStack.add(
    (next) => (args) => {
      // The client names its own operation in `x-id`, which S3 does not ask for.
      delete (args.request as { query: Record<string, unknown> }).query['x-id'];
      return next(args);
    },
    { step: 'build', priority: 'low' },
  );
  const options = {
    expiresIn: what.lifetimeSeconds,
    signingDate: new Date(what.nowMs),
    unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
  };
  // Each call has its own overload by command; the union is taken apart here.
  const target = { Bucket: where.bucket, Key: what.objectPath };
  if (what.operation === 'head') return getSignedUrl(client, new HeadObjectCommand(target), options);
  if (what.operation === 'delete') return getSignedUrl(client, new DeleteObjectCommand(target), options);
  if (what.operation === 'get') {
    const asDownload = { ResponseContentDisposition: 'attachment', ResponseContentType: 'application/octet-stream' };
    return getSignedUrl(client, new GetObjectCommand({ ...target, ...asDownload }), options);
  }
  const length = what.size === undefined ? {} : { ContentLength: what.size };
  if (what.contentSha256 === undefined)
    return getSignedUrl(client, new PutObjectCommand({ ...target, ...length }), options);
  const ChecksumSHA256 = Buffer.from(what.contentSha256, 'hex').toString('base64');
  const bound = { ...target, ...length, ChecksumSHA256, IfNoneMatch: '*' };
  return getSignedUrl(client, new PutObjectCommand(bound), options);
}
