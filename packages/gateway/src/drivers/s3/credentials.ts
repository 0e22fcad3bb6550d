import { DependencyUnavailableError } from '../../ports/errors.ts';

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

/**
 * Asks a provider for credentials.
 *
 * @param provider source of credentials
 * @returns credentials
 * @throws DependencyUnavailableError (`DEPENDENCY_UNAVAILABLE`) when the provider fails
 */
export async function obtainCredentials(provider: CredentialsProvider): Promise<S3Credentials> {
  try {
    return await provider();
  } catch (cause) {
    throw new DependencyUnavailableError('object store credentials', { cause });
  }
}

/**
 * Shortens a lifetime so that it ends no later than the credentials do: a store refuses a URL once they have ended.
 *
 * @param credentials the credentials that sign
 * @param wish start of the lifetime as the signing second in milliseconds since the epoch, and its length in seconds
 * @returns lifetime in whole seconds, at least 1
 * @throws DependencyUnavailableError (`DEPENDENCY_UNAVAILABLE`) when less than one second is left of the credentials
 */
export function limitLifetime(
  credentials: S3Credentials,
  wish: { readonly startMs: number; readonly lifetimeSeconds: number },
): number {
  if (credentials.expiration === undefined) return wish.lifetimeSeconds;
  const leftSeconds = Math.floor((credentials.expiration.getTime() - wish.startMs) / 1000);
  // Written so that an unreadable date (NaN) is refused too.
  if (!(leftSeconds >= 1)) throw new DependencyUnavailableError('object store credentials');
  return Math.min(wish.lifetimeSeconds, leftSeconds);
}
