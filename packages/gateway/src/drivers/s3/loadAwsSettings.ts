import { type AwsProfile, type Environment, loadAwsProfile } from './loadAwsProfile.ts';
import { S3SettingsError } from './s3SettingsError.ts';

/** Which S3 to speak to. */
export interface AwsSettings {
  readonly region: string;
  readonly endpoint: string | undefined;
  readonly useFips: boolean;
  readonly useDualStack: boolean;
}

/**
 * Finds region and endpoint as the AWS SDK does: environment first, then the shared profile, then (region only) the
 * machine's metadata service. `AWS_DEFAULT_REGION`, which AWS's CLI reads, counts after `AWS_REGION`.
 *
 * @param env environment variables
 * @returns the settings
 * @throws S3SettingsError (`S3_SETTINGS_INVALID`) when no region can be found or a setting is not what it should be
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 */
export async function loadAwsSettings(env: Environment): Promise<AwsSettings> {
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
