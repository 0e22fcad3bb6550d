import type { ObjectSigner } from '../../ports/objectSigner.ts';
import { createAwsCredentials } from './createAwsCredentials.ts';
import { createS3Signer } from './createS3Signer.ts';
import type { Environment } from './loadAwsProfile.ts';
import { loadAwsSettings } from './loadAwsSettings.ts';

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
