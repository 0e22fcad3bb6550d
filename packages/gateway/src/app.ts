import type { RouteName } from '@prism-gateway/protocol';
import { type AdminKeys, createAdminCheck } from './auth/admin.ts';
import { createLastSeen } from './auth/createLastSeen.ts';
import { type Answering, createRouter } from './http/createRouter.ts';
import type { Endpoint } from './http/endpoint.ts';
import { createRateLimiter } from './http/rateLimit.ts';
import type { RateLimits } from './http/rateLimits.ts';
import type { BudgetUse, GatewayPorts } from './ports/gatewayPorts.ts';
import { createWaits, type WaitBounds } from './push/createWaits.ts';
import { type CursorCodec, createCursorCodec } from './requests/createCursorCodec.ts';
import { type AdminAccess, createAdminAccess } from './routes/admin/adminAccess.ts';
import { listActsEndpoint } from './routes/admin/audit.ts';
import type { WebhookEndpoints } from './routes/admin/deliveries.ts';
import {
  addRelayerEndpoint,
  listRelayersEndpoint,
  readRelayerEndpoint,
  releaseRelayerEndpoint,
  removeRelayerEndpoint,
  resumeRelayerEndpoint,
  suspendRelayerEndpoint,
} from './routes/admin/relayers.ts';
import {
  failRequestEndpoint,
  listAllRequestsEndpoint,
  purgeRequestEndpoint,
  releaseClaimEndpoint,
  reopenRequestEndpoint,
} from './routes/admin/requests.ts';
import { readServiceEndpoint } from './routes/admin/service.ts';
import { readStatsEndpoint } from './routes/admin/stats.ts';
import { consoleRoutes } from './routes/console/console.ts';
import { docsRoutes } from './routes/docs/docs.ts';
import { operationsRoutes } from './routes/operations/operations.ts';
import { claimRequestsEndpoint, releaseRequestEndpoint, reportRequestsEndpoint } from './routes/requests/batches.ts';
import { createRequestEndpoint } from './routes/requests/create.ts';
import { feedRequestsEndpoint } from './routes/requests/feed.ts';
import { listRequestsEndpoint } from './routes/requests/list.ts';
import { readRequestEndpoint } from './routes/requests/read.ts';
import { updateRequestEndpoint } from './routes/requests/update.ts';
import { type SignOptions, signStorageEndpoint } from './routes/storage/sign.ts';

export interface GatewayOptions extends AdminKeys {
  /** Secret that seals cursors; the same in all processes of a deployment. */
  readonly cursorKey: Uint8Array;
  readonly claimLeaseSeconds: number;
  /** Most requests that one relayer may hold; 0: any number. */
  readonly maxOpenClaims: number;
  /** As in `ClaimPorts`. */
  readonly maxClaimSeconds: number;
  /** Most calls that wait, of all and of one client; 0: any number. */
  readonly waits: Omit<WaitBounds, 'hasRoom'>;
  /** Most calls of one client under way behind proxies, if no connection is a client's; 0: any number. */
  readonly maxOpenCalls: number;
  /** Longest wait of a call without authentication, in seconds; 0: none waits. */
  readonly publicWaitSeconds: number;
  /** The only chains that requests are taken for; empty: any. */
  readonly chains: readonly string[];
  /** Whether every signature is taken once, asked or not. */
  readonly alwaysOnce: boolean;
  readonly maxBodyBytes: number;
  readonly maxBatchSize: number;
  readonly rateLimits: RateLimits;
  readonly sign: SignOptions;
  /** Whether `/metrics` is served beside the API. */
  readonly publicMetrics: boolean;
  /** Whether the administrator and the development issuer are answered to this machine and private networks alone. */
  readonly localAdminOnly: boolean;
  /** Where a chain's transactions are shown, with `{hash}`, by the chain's name. */
  readonly explorers: Readonly<Record<string, string>>;
  /** Proxies in front of the service whose `X-Forwarded-For` is believed. */
  readonly trustedProxyHops: number;
}

/** Answers HTTP requests, whose paths are those routed: without stage prefix or base path. */
export interface Gateway extends Answering {
  /** Answers all calls that wait for something to happen with what they know, now and from here on: the process is about to end. */
  readonly endWaits: () => void;
  /** The bound on calls that wait, and its use. */
  readonly readWaits: () => BudgetUse;
}

/**
 * Builds the gateway: every route, by access level, over the given ports. It listens to nothing.
 *
 * @param moreEndpoints - makes endpoints of the administrator that not every gateway has
 * @see docs/specification.md SERVICE-4
 */
export function createGateway(
  ports: GatewayPorts,
  options: GatewayOptions,
  moreEndpoints: (access: AdminAccess, cursors: CursorCodec) => Partial<WebhookEndpoints> = () => ({}),
): Gateway {
  const limiter = createRateLimiter(ports.rateLimits, options.rateLimits, ports.now);
  const router = createRouter({ ...ports, ...options, limiter });
  const waits = createWaits(ports.changes, { ...options.waits, hasRoom: ports.hasAnswerRoom });
  const requests = {
    ...ports,
    waits,
    recordSeen: createLastSeen(ports),
    maxOpenClaims: options.maxOpenClaims,
    maxClaimSeconds: options.maxClaimSeconds,
    claimLeaseSeconds: options.claimLeaseSeconds,
    claimed: ports.metrics.claimed,
    cursors: createCursorCodec(options.cursorKey),
  };
  const checkAdmin = createAdminCheck(options);
  const admin = createAdminAccess(checkAdmin, { ...options, logger: ports.logger });

  const endpoints: Readonly<Record<RouteName, Endpoint<unknown>>> = {
    // Public
    createRequest: createRequestEndpoint(requests, options),
    listRequests: listRequestsEndpoint(requests),
    readRequest: readRequestEndpoint(requests, options),
    // Signed-in users
    signStorage: signStorageEndpoint(ports, options.sign),
    // Whitelisted relayers
    feedRequests: feedRequestsEndpoint(requests),
    updateRequest: updateRequestEndpoint(requests),
    claimRequests: claimRequestsEndpoint(requests),
    reportRequests: reportRequestsEndpoint(requests),
    releaseRequest: releaseRequestEndpoint(requests),
    // Administrators
    addRelayer: addRelayerEndpoint(ports, admin),
    listRelayers: listRelayersEndpoint(ports, admin),
    readRelayer: readRelayerEndpoint(ports, admin),
    removeRelayer: removeRelayerEndpoint(ports, admin),
    suspendRelayer: suspendRelayerEndpoint(ports, admin),
    resumeRelayer: resumeRelayerEndpoint(ports, admin),
    releaseRelayer: releaseRelayerEndpoint(ports, admin),
    listAllRequests: listAllRequestsEndpoint(requests, admin),
    readStats: readStatsEndpoint(requests, options, admin),
    listActs: listActsEndpoint(requests, admin),
    readService: readServiceEndpoint({ ...ports, limiter, waits, checkAdmin }, options, admin),
    releaseClaim: releaseClaimEndpoint(requests, admin),
    failRequest: failRequestEndpoint(requests, admin),
    reopenRequest: reopenRequestEndpoint(requests, admin),
    purgeRequest: purgeRequestEndpoint(requests, admin),
  };
  const more = moreEndpoints(admin, requests.cursors);
  for (const endpoint of [...Object.values(endpoints), ...Object.values(more)]) router.serve(endpoint);
  // Operators and readers
  for (const route of [...operationsRoutes(ports, options), ...docsRoutes(ports), ...consoleRoutes(ports)])
    router.servePlain(route);
  const readWaits = () => ({
    ...{ name: 'waits', used: waits.count(), ended: waits.refused() },
    ...(options.waits.most > 0 && { most: options.waits.most }),
  });
  return { ...router.finish(), endWaits: waits.end, readWaits };
}
