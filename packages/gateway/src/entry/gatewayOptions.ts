import type { GatewayOptions } from '../app.ts';
import { answersAdminLocally } from './answersAdminLocally.ts';
import type { Settings } from './settings.ts';

/** How long a request may be held by renewing, unless it is set, in leases. */
const CLAIM_LEASES = 4;

/**
 * Picks what `createGateway` wants to know from the settings.
 *
 * @param localCursorKey - seals cursors if `CURSOR_SECRET` is unset
 */
export function gatewayOptions(settings: Settings, localCursorKey: Uint8Array): GatewayOptions {
  const { CURSOR_SECRET } = settings;
  return {
    adminKeys: settings.adminKeys,
    adminReadKeys: settings.adminReadKeys,
    cursorKey: CURSOR_SECRET === undefined ? localCursorKey : new TextEncoder().encode(CURSOR_SECRET),
    claimLeaseSeconds: settings.CLAIM_LEASE_SECONDS,
    maxOpenClaims: settings.MAX_OPEN_CLAIMS,
    maxClaimSeconds: settings.MAX_CLAIM_SECONDS ?? CLAIM_LEASES * settings.CLAIM_LEASE_SECONDS,
    publicWaitSeconds: settings.PUBLIC_WAIT_SECONDS,
    waits: { most: settings.MAX_WAITS, mostOfClient: settings.MAX_WAITS_PER_CLIENT },
    maxOpenCalls: settings.TRUSTED_PROXY_HOPS === 0 ? 0 : settings.MAX_CONNECTIONS_PER_PEER,
    chains: settings.chains,
    alwaysOnce: settings.REQUESTS_ONCE === 'always',
    maxBodyBytes: settings.MAX_BODY_BYTES,
    maxBatchSize: settings.MAX_BATCH_SIZE,
    rateLimits: {
      reads: settings.RATE_LIMIT_READS,
      writes: settings.RATE_LIMIT_WRITES,
      sign: settings.RATE_LIMIT_SIGN,
      claims: settings.RATE_LIMIT_CLAIMS,
      reports: settings.RATE_LIMIT_REPORTS,
      'write-bytes': settings.RATE_LIMIT_WRITE_BYTES,
      'read-bytes': settings.RATE_LIMIT_READ_BYTES,
      'auth-failures': settings.RATE_LIMIT_AUTH_FAILURES,
      'admin-failures': settings.RATE_LIMIT_ADMIN_FAILURES,
    },
    sign: {
      lifetimeSeconds: settings.STORAGE_SIGNED_URL_TTL_SECONDS,
      bindContent: settings.STORAGE_BIND_CONTENT,
      maxObjectBytes: settings.MAX_OBJECT_BYTES,
      requireSize: settings.STORAGE_REQUIRE_SIZE,
    },
    explorers: settings.explorers,
    trustedProxyHops: settings.TRUSTED_PROXY_HOPS,
    publicMetrics: settings.STAGE === 'dev',
    localAdminOnly: answersAdminLocally(settings),
  };
}
