import type { RateLimits } from '../../src/http/rateLimits.ts';

/** Every limit off. */
export const NO_LIMITS: RateLimits = {
  reads: 0,
  writes: 0,
  sign: 0,
  claims: 0,
  reports: 0,
  'write-bytes': 0,
  'read-bytes': 0,
  'auth-failures': 0,
  'admin-failures': 0,
};
