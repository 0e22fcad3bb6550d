import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ObjectSigner } from '../../ports/objectSigner.ts';
import { S3SettingsError } from './bucketAddress.ts';
import { type CredentialsProvider, createS3Signer, type S3Credentials } from './createS3Signer.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One section of an AWS file: settings by name, those of a sub-section as `s3.endpoint_url`. */
type AwsSection = Readonly<Record<string, string | undefined>>;

/** The profile in force in the shared AWS files. */
interface AwsProfile {
  /** The profile in `~/.aws/config`. */
  readonly config: AwsSection;
  /** The profile in `~/.aws/credentials`. */
  readonly credentials: AwsSection;
  /** The `[services …]` section that the profile names. */
  readonly services: AwsSection;
}

const EMPTY: AwsProfile = { config: {}, credentials: {}, services: {} };

/**
 * Reads the profile in force (`AWS_PROFILE`, else `default`) from the shared AWS files, with the AWS SDK's own parser,
 * which is loaded only if such a file exists.
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
 */
async function loadAwsProfile(env: Environment): Promise<AwsProfile> {
  const home = env.HOME || env.USERPROFILE || homedir();
  const configFilepath = env.AWS_CONFIG_FILE || join(home, '.aws', 'config');
  const filepath = env.AWS_SHARED_CREDENTIALS_FILE || join(home, '.aws', 'credentials');
  if (!existsSync(configFilepath) && !existsSync(filepath)) return EMPTY;

  const { loadSharedConfigFiles } = await import('@smithy/core/config');
  const { configFile, credentialsFile } = await loadSharedConfigFiles({ configFilepath, filepath });
  const name = env.AWS_PROFILE || 'default';
  const config: AwsSection = configFile[name] ?? {};
  const credentials: AwsSection = credentialsFile[name] ?? {};
  const servicesName = config.services ?? credentials.services;
  return { config, credentials, services: configFile[`services.${servicesName}`] ?? {} };
}

/** Longer than any source takes (metadata services answer in milliseconds), shorter than a caller's patience. */
const TIMEOUT_MS = 10_000;

/**
 * Makes a provider of AWS credentials. Keys in the environment are used as they are, unless `AWS_PROFILE` asks for a
 * profile. Otherwise the AWS SDK's own chain is loaded with the first call: single sign-on, profiles, processes, web identity,
 * containers, instances. It keeps what it found, and fetches anew from five minutes before the end.
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
 */
function createAwsCredentials(env: Environment): CredentialsProvider {
  const fixed = readStaticCredentials(env);
  if (fixed !== undefined) return async () => fixed;

  let chain: Promise<CredentialsProvider> | undefined;
  return async () => {
    chain ??= loadChain(env);
    const provider = await chain;
    return await withTimeout(provider());
  };
}

function readStaticCredentials(env: Environment): S3Credentials | undefined {
  const accessKeyId = env.AWS_ACCESS_KEY_ID;
  const secretAccessKey = env.AWS_SECRET_ACCESS_KEY;
  if (env.AWS_PROFILE || !accessKeyId || !secretAccessKey) return undefined;
  const expiration = env.AWS_CREDENTIAL_EXPIRATION;
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
    expiration: expiration ? new Date(expiration) : undefined,
  };
}

async function loadChain(env: Environment): Promise<CredentialsProvider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  const profile = env.AWS_PROFILE;
  const filepath = env.AWS_SHARED_CREDENTIALS_FILE;
  const configFilepath = env.AWS_CONFIG_FILE;
  return defaultProvider({
    ...(profile ? { profile } : {}),
    ...(filepath ? { filepath } : {}),
    ...(configFilepath ? { configFilepath } : {}),
  });
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('No source of AWS credentials answered in time.')), TIMEOUT_MS);
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** Which S3 to speak to. */
interface AwsSettings {
  readonly region: string;
  readonly endpoint: string | undefined;
  readonly useFips: boolean;
  readonly useDualStack: boolean;
}

/**
 * Finds region and endpoint as the AWS SDK does: environment first, then the shared profile, then (region only) the
 * machine's metadata service. `AWS_DEFAULT_REGION`, which AWS's CLI reads, counts after `AWS_REGION`.
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 */
async function loadAwsSettings(env: Environment): Promise<AwsSettings> {
  const profile = await loadAwsProfile(env);
  const readFlag = (variable: string, setting: string) => parseFlag(variable, env[variable] || profile.config[setting]);
  const ignoresEndpoint = readFlag('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS', 'ignore_configured_endpoint_urls');
  return {
    region: await findRegion(env, profile),
    endpoint: ignoresEndpoint ? undefined : findEndpoint(env, profile),
    useFips: readFlag('AWS_USE_FIPS_ENDPOINT', 'use_fips_endpoint'),
    useDualStack: readFlag('AWS_USE_DUALSTACK_ENDPOINT', 'use_dualstack_endpoint'),
  };
}

function parseFlag(variable: string, value: string | undefined): boolean {
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw new S3SettingsError(`${variable} must be true or false.`);
}

function findEndpoint(env: Environment, { config, credentials, services }: AwsProfile): string | undefined {
  return (
    env.AWS_ENDPOINT_URL_S3 ||
    env.AWS_ENDPOINT_URL ||
    services['s3.endpoint_url'] ||
    config.endpoint_url ||
    credentials.endpoint_url ||
    undefined
  );
}

async function findRegion(env: Environment, { config, credentials }: AwsProfile): Promise<string> {
  const region =
    env.AWS_REGION || env.AWS_DEFAULT_REGION || credentials.region || config.region || (await askMachine(env));
  if (region === undefined) {
    throw new S3SettingsError('No AWS region is known; set AWS_REGION, for example to us-east-1.');
  }
  return region;
}

/** The region of the EC2 instance this runs on; it takes up to a second to learn that it is none. */
async function askMachine(env: Environment): Promise<string | undefined> {
  if (env.AWS_EC2_METADATA_DISABLED) return undefined;
  const { NODE_REGION_CONFIG_OPTIONS } = await import('@smithy/core/config');
  const { default: findInstanceRegion } = NODE_REGION_CONFIG_OPTIONS;
  if (typeof findInstanceRegion !== 'function') return undefined;
  return Promise.resolve(findInstanceRegion()).catch(() => undefined);
}

/**
 * Makes a signer for a bucket whose region, endpoint and credentials are set as for the AWS SDK.
 *
 * @param options name of the bucket, its style of addressing, and the process's environment variables
 * @returns signer; credentials are asked for with each signature, not here
 * @throws S3SettingsError (`S3_SETTINGS_INVALID`) when bucket, region or endpoint cannot be used
 */
export async function createS3SignerFromAws(options: {
  readonly bucket: string;
  readonly forcePathStyle: boolean;
  readonly env: Environment;
}): Promise<ObjectSigner> {
  const { bucket, forcePathStyle, env } = options;
  const settings = await loadAwsSettings(env);
  return createS3Signer({ bucket, forcePathStyle, ...settings, credentials: createAwsCredentials(env) });
}
