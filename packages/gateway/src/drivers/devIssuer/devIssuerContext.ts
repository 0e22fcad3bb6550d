import type { Revocations } from './createRevocations.ts';
import type { DevelopmentKey } from './loadOrCreateKey.ts';
import type { Client } from './requireClient.ts';

/** What the development issuer's endpoints share. */
export interface DevIssuerContext extends Client {
  /** Issuer identifier: the URL under which the issuer is mounted, no slash at its end. */
  readonly issuer: string;
  readonly key: () => Promise<DevelopmentKey>;
  readonly revocations: Revocations;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Makes a UUID. */
  readonly newId: () => string;
}
