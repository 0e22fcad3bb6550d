/** The settings do not say which bucket to sign for, or how to reach it. It is found at start, before any call. */
export class S3SettingsError extends Error {
  override readonly name = 'S3SettingsError';
  readonly code = 'S3_SETTINGS_INVALID';
}

/**
 * Partitions of AWS other than the commercial one, by the shape of their regions. GovCloud shares the commercial suffix.
 * From the AWS SDK's `partitions.json`.
 */
const PARTITIONS: ReadonlyArray<readonly [region: RegExp, dnsSuffix: string]> = [
  [/^(cn-\w+-\d+|aws-cn-global)$/, 'amazonaws.com.cn'],
  [/^eusc-de-\w+-\d+$/, 'amazonaws.eu'],
  [/^(us-iso-\w+-\d+|aws-iso-global)$/, 'c2s.ic.gov'],
  [/^(us-isob-\w+-\d+|aws-iso-b-global)$/, 'sc2s.sgov.gov'],
  [/^(eu-isoe-\w+-\d+|aws-iso-e-global)$/, 'cloud.adc-e.uk'],
  [/^(us-isof-\w+-\d+|aws-iso-f-global)$/, 'csp.hci.ic.gov'],
];

/** The domain under which a region's AWS services live. */
function findDnsSuffix(region: string): string {
  return PARTITIONS.find(([shape]) => shape.test(region))?.[1] ?? 'amazonaws.com';
}

/** Where a bucket is, and how it is to be reached. */
export interface BucketSettings {
  /** Bucket name or access point alias; ARNs and directory buckets (`--x-s3`) need other signatures and are refused. */
  readonly bucket: string;
  /** For example `eu-central-1`; it is part of each signature, also with an own endpoint. */
  readonly region: string;
  /** Base URL of an S3-compatible store, http or https, with any port and base path; absent: AWS. */
  readonly endpoint?: string | undefined;
  /** The bucket in the path, not in the host name. */
  readonly forcePathStyle: boolean;
  /** AWS's FIPS 140 endpoints; not with an own endpoint. */
  readonly useFips?: boolean;
  /** AWS's IPv4 and IPv6 endpoints; not with an own endpoint. */
  readonly useDualStack?: boolean;
}

/** The fixed part of every URL of a bucket. */
export interface BucketAddress {
  /** Scheme, host and port, for example `https://photos.s3.eu-central-1.amazonaws.com`. */
  readonly origin: string;
  /** Value of the `Host` header: host, and the port unless it is the scheme's own. */
  readonly host: string;
  /** The path before an object's key, percent-encoded, beginning and ending with `/`. */
  readonly pathPrefix: string;
}

const HOST_LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i;
const BUCKET_LABEL = /^(?!-)[a-z0-9-]{3,63}(?<!-)$/;
const BUCKET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/;
const IPV4 = /^(\d{1,3}\.){3}\d{1,3}$/;

/**
 * Finds the address of a bucket, by the rules of the AWS SDK: the bucket is the first part of the host name where it
 * can be (and TLS certificates allow it), else the first segment of the path.
 *
 * @param settings the bucket, its region and endpoint
 * @returns the fixed part of the bucket's URLs
 * @throws S3SettingsError (`S3_SETTINGS_INVALID`) for a bucket, region or endpoint that cannot be used
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 */
export function findBucketAddress(settings: BucketSettings): BucketAddress {
  assertUsable(settings);
  const base = parseEndpoint(settings);
  if (isPathStyle(settings, base)) {
    return { origin: base.origin, host: base.host, pathPrefix: `${withSlash(base.pathname)}${settings.bucket}/` };
  }
  const host = `${settings.bucket}.${base.host}`;
  return { origin: `${base.protocol}//${host}`, host, pathPrefix: withSlash(base.pathname) };
}

function assertUsable({ bucket, region, endpoint, useFips, useDualStack }: BucketSettings): void {
  if (!BUCKET_NAME.test(bucket) || bucket.endsWith('--x-s3')) {
    throw new S3SettingsError(`STORAGE_BUCKET "${bucket}" is not the name of a general purpose bucket.`);
  }
  if (!HOST_LABEL.test(region)) {
    throw new S3SettingsError(`The region "${region}" is not a region name; set AWS_REGION, for example to us-east-1.`);
  }
  if (endpoint !== undefined && (useFips === true || useDualStack === true)) {
    throw new S3SettingsError('A FIPS or dual-stack endpoint cannot be combined with an endpoint URL of your own.');
  }
  if (useFips === true && region.startsWith('cn-')) {
    throw new S3SettingsError(`The region "${region}" has no FIPS endpoints.`);
  }
}

function parseEndpoint({ endpoint, region, useFips, useDualStack }: BucketSettings): URL {
  if (endpoint === undefined) {
    const service = `s3${useFips === true ? '-fips' : ''}${useDualStack === true ? '.dualstack' : ''}`;
    return new URL(`https://${service}.${region}.${findDnsSuffix(region)}`);
  }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isPlain =
    url !== undefined && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    // The value is not repeated: an URL may hold a password.
    throw new S3SettingsError(
      'The S3 endpoint must be an http or https URL without user, query or fragment; see AWS_ENDPOINT_URL_S3.',
    );
  }
  return url;
}

function isPathStyle({ bucket, forcePathStyle, endpoint }: BucketSettings, base: URL): boolean {
  if (forcePathStyle || isIpAddress(base.hostname)) return true;
  // A wildcard certificate covers one label, so dots in a bucket's name only work without TLS. The SDK looks at how the
  // endpoint is written, not at how it parses.
  if (bucket.includes('.') && endpoint?.startsWith('http:') !== true) return true;
  return (
    bucket.length > 63 || /(\d+\.){3}\d+/.test(bucket) || !bucket.split('.').every((label) => BUCKET_LABEL.test(label))
  );
}

function isIpAddress(hostname: string): boolean {
  return IPV4.test(hostname) || hostname.startsWith('[');
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
