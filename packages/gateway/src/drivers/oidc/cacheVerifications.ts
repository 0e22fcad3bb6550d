import { hash } from 'node:crypto';
import { TokenRejectedError } from '../../ports/errors.ts';
import type { TokenVerifier, VerifiedUser } from '../../ports/tokenVerifier.ts';
import { providerFault } from './providerFault.ts';

export interface VerificationCacheOptions {
  /** The verification proper. */
  readonly verify: (token: string) => Promise<VerifiedUser>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long a good answer is kept, in milliseconds; default and most 15,000. */
  readonly maxAgeMs?: number | undefined;
}

/** Longest time for which a revoked token may still be let in. @see docs/specification.md TOKEN-2 */
const MAX_AGE_MS = 15_000;
/** Some 4 MB. */
const MAX_ENTRIES = 10_000;
/** A stranger's opaque tokens all go to the provider; what is beyond this waits for nobody. */
const MAX_PENDING = 1_000;
/** Far above real tokens, and above what Node takes as a header by default (16 KiB for all of them). */
const MAX_TOKEN_LENGTH = 16 * 1024;
/** `b64token` of RFC 6750, section 2.1. */
const bearerSyntax = /^[A-Za-z0-9\-._~+/]+=*$/;

interface Entry {
  readonly answer: Promise<VerifiedUser>;
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Keeps good answers for a while and lets concurrent verifications of one token share one. Refusals and failures are not
 * kept. Tokens stand in memory as SHA-256 digests, which is also what makes long ones cheap to look up.
 *
 * @param options - the verification, the clock, and how long an answer holds
 * @returns the port; it refuses what cannot be a bearer token before it asks anybody
 */
export function cacheVerifications(options: VerificationCacheOptions): TokenVerifier {
  const { now } = options;
  const maxAgeMs = Math.min(options.maxAgeMs ?? MAX_AGE_MS, MAX_AGE_MS);
  /** Least recently used first. */
  const entries = new Map<string, Entry>();
  const pending = new Map<string, Promise<VerifiedUser>>();

  function keep(key: string, user: VerifiedUser, fromMs: number): void {
    // Counted from before the provider was asked: its answer may be as old as that.
    const untilMs = Math.min(fromMs + maxAgeMs, user.expiresAtMs);
    if (untilMs <= now()) return;
    entries.set(key, { answer: Promise.resolve(user), fromMs, untilMs });
    const oldest = entries.keys().next();
    if (entries.size > MAX_ENTRIES && oldest.done !== true) entries.delete(oldest.value);
  }

  function start(key: string, token: string): Promise<VerifiedUser> {
    if (pending.size >= MAX_PENDING) return Promise.reject(providerFault('too many verifications under way'));
    if (!bearerSyntax.test(token)) return Promise.reject(new TokenRejectedError('The access token is malformed.'));
    const fromMs = now();
    const answer = options
      .verify(token)
      .then((user) => {
        keep(key, user, fromMs);
        return user;
      })
      .finally(() => pending.delete(key));
    pending.set(key, answer);
    return answer;
  }

  return {
    verify(token) {
      if (token.length > MAX_TOKEN_LENGTH)
        return Promise.reject(new TokenRejectedError('The access token is too long.'));
      const key = hash('sha256', token, 'base64');
      const entry = entries.get(key);
      if (entry === undefined) return pending.get(key) ?? start(key, token);
      entries.delete(key);
      const nowMs = now();
      // A clock that was set back must not lengthen an entry's life.
      if (nowMs < entry.fromMs || nowMs >= entry.untilMs) return pending.get(key) ?? start(key, token);
      entries.set(key, entry);
      return entry.answer;
    },
  };
}
