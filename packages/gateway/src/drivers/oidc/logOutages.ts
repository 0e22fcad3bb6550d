import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import type { VerifiedUser } from '../../ports/tokenVerifier.ts';

export interface OutageLogOptions {
  readonly verify: (token: string) => Promise<VerifiedUser>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** One line in this time for one reason: an outage under load must not drown the log. */
const QUIET_MS = 10_000;

function reasonOf(error: DependencyUnavailableError): string {
  return error.cause instanceof Error ? error.cause.message : 'unknown';
}

/**
 * Logs why the provider could not be asked, so that an operator can distinguish an outage from a wrong setting.
 *
 * @param options - the verification and where to log
 * @returns the same verification
 */
export function logOutages(options: OutageLogOptions): (token: string) => Promise<VerifiedUser> {
  const { verify, logger, now } = options;
  let last = { reason: '', atMs: Number.NEGATIVE_INFINITY };

  return async (token) => {
    try {
      return await verify(token);
    } catch (error) {
      if (!(error instanceof DependencyUnavailableError)) throw error;
      const reason = reasonOf(error);
      const nowMs = now();
      if (reason !== last.reason || nowMs - last.atMs >= QUIET_MS) {
        last = { reason, atMs: nowMs };
        logger.warn({ reason }, 'identity provider unavailable');
      }
      throw error;
    }
  };
}
