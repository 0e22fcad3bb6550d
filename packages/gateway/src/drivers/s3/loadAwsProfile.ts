import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One section of an AWS file: settings by name, those of a sub-section as `s3.endpoint_url`. */
export type AwsSection = Readonly<Record<string, string | undefined>>;

/** What the shared AWS files say about the profile in force. */
export interface AwsProfile {
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
 * which is loaded only where such a file exists.
 *
 * @param env environment variables
 * @returns the profile; empty sections where there is none
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
 */
export async function loadAwsProfile(env: Environment): Promise<AwsProfile> {
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
