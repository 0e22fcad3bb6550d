import type { CredentialsProvider, S3Credentials } from './credentials.ts';
import type { Environment } from './loadAwsProfile.ts';

/** Longer than any source takes (metadata services answer in milliseconds), shorter than a caller's patience. */
const TIMEOUT_MS = 10_000;

/**
 * Makes a provider of AWS credentials. Keys in the environment are used as they are, unless `AWS_PROFILE` asks for a
 * profile. Otherwise the AWS SDK's own chain is loaded with the first call: single sign-on, profiles, processes, web identity,
 * containers, instances. It keeps what it found, and fetches anew from five minutes before the end.
 *
 * @param env environment variables; the chain also reads the process's own
 * @returns provider; it fails as the chain fails, and after ten seconds without an answer
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
 */
export function createAwsCredentials(env: Environment): CredentialsProvider {
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
