import type { RateLimitClass } from '@prism-gateway/protocol';

/** Every limit that counts what a client does. */
export type LimitName = RateLimitClass | 'write-bytes' | 'read-bytes' | 'auth-failures' | 'admin-failures';

/** Most hits a minute of one client; 0 is off. */
export type RateLimits = Readonly<Record<LimitName, number>>;
