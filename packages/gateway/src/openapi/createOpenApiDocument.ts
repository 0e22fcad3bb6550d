import {
  ACTIONS,
  DEFAULT_PAGE_SIZE,
  MAX_ERROR_MESSAGE_LENGTH,
  MAX_LABEL_LENGTH,
  MAX_PAGE_SIZE,
  RELAYER_TIMESTAMP_SKEW_MS,
  type RouteName,
} from '@prism-gateway/protocol';
import gateway from '../../package.json' with { type: 'json' };
import { describeListActs } from '../routes/admin/audit.docs.ts';
import {
  describeAddRelayer,
  describeListRelayers,
  describeReadRelayer,
  describeReleaseRelayer,
  describeRemoveRelayer,
  describeResumeRelayer,
  describeSuspendRelayer,
} from '../routes/admin/relayers.docs.ts';
import {
  describeFailRequest,
  describeListAllRequests,
  describePurgeRequest,
  describeReleaseClaim,
  describeReopenRequest,
} from '../routes/admin/requests.docs.ts';
import { describeReadService } from '../routes/admin/service.docs.ts';
import { describeReadStats } from '../routes/admin/stats.docs.ts';
import { describeWebhooks } from '../routes/admin/webhooks.docs.ts';
import { describeOperations } from '../routes/operations/operations.docs.ts';
import {
  describeClaimRequests,
  describeReleaseRequest,
  describeReportRequests,
} from '../routes/requests/batches.docs.ts';
import { describeCreateRequest } from '../routes/requests/create.docs.ts';
import { describeFeedRequests } from '../routes/requests/feed.docs.ts';
import { describeListRequests } from '../routes/requests/list.docs.ts';
import { describeReadRequest } from '../routes/requests/read.docs.ts';
import { describeUpdateRequest } from '../routes/requests/update.docs.ts';
import { describeSignStorage } from '../routes/storage/sign.docs.ts';
import { type AnyRouteName, describeRoute, type RouteDescription } from './describeRoute.ts';
import type { OpenApiDocument, Paths } from './document.ts';
import { API_ANSWER_HEADERS, createSharedResponses } from './parts/responses.ts';
import { describeDevIssuer } from './paths/devIssuer.ts';
import { describeDevRelayer } from './paths/devRelayer.ts';
import { describeLocalObjects } from './paths/localObjects.ts';
import { describeEvents } from './paths/webhookEvents.ts';
import { createSchemas } from './schemas/createSchemas.ts';
import { SECURITY_SCHEMES } from './text/authentication.ts';
import { TAG_DESCRIPTIONS, TAGS, writeOverview } from './text/descriptions.ts';

export interface OpenApiOptions {
  /** Base of the service's own URLs, without a trailing slash. */
  readonly publicUrl: string;
  /** Most entries of a batch array. */
  readonly maxBatchSize: number;
  /** Limit of a body, in bytes. */
  readonly maxBodyBytes: number;
  /** Whether the built-in development issuer is mounted. */
  readonly withDevIssuer: boolean;
  /** Whether the development relayer is mounted; false unless given. */
  readonly withDevRelayer?: boolean;
  /** Whether this service keeps the objects itself; false unless given. */
  readonly withLocalObjects?: boolean;
  /** Whether it has webhooks; false unless given. */
  readonly withWebhooks?: boolean;
}

/** Puts the operations of one path together. */
function mergePaths(parts: readonly Paths[]): Paths {
  const paths: Record<string, Paths[string]> = {};
  for (const [path, item] of parts.flatMap(Object.entries<Paths[string]>)) paths[path] = { ...paths[path], ...item };
  return paths;
}

const describeRoutes = (options: OpenApiOptions): Readonly<Record<RouteName, RouteDescription>> => ({
  createRequest: describeCreateRequest(options),
  listRequests: describeListRequests(),
  feedRequests: describeFeedRequests(),
  readRequest: describeReadRequest(),
  updateRequest: describeUpdateRequest(),
  claimRequests: describeClaimRequests(),
  reportRequests: describeReportRequests(),
  releaseRequest: describeReleaseRequest(),
  signStorage: describeSignStorage(options),
  addRelayer: describeAddRelayer(),
  listRelayers: describeListRelayers(),
  readRelayer: describeReadRelayer(),
  removeRelayer: describeRemoveRelayer(),
  suspendRelayer: describeSuspendRelayer(),
  resumeRelayer: describeResumeRelayer(),
  releaseRelayer: describeReleaseRelayer(),
  listAllRequests: describeListAllRequests(),
  readStats: describeReadStats(),
  listActs: describeListActs(),
  readService: describeReadService(),
  releaseClaim: describeReleaseClaim(),
  failRequest: describeFailRequest(),
  reopenRequest: describeReopenRequest(),
  purgeRequest: describePurgeRequest(),
});

function describePaths(options: OpenApiOptions): Paths {
  const routes: Readonly<Record<string, RouteDescription>> = {
    ...describeRoutes(options),
    ...(options.withWebhooks && describeWebhooks()),
  };
  return mergePaths([
    ...Object.entries(routes).map(([name, description]) => describeRoute(name as AnyRouteName, description)),
    describeOperations(),
    options.withDevIssuer ? describeDevIssuer() : {},
    options.withDevRelayer ? describeDevRelayer() : {},
    options.withLocalObjects ? describeLocalObjects() : {},
  ]);
}

function describeTags(options: OpenApiOptions): OpenApiDocument['tags'] {
  const { withDevIssuer, withDevRelayer, withLocalObjects, withWebhooks } = options;
  const { requests, storage, relayers, administration, operations } = TAG_DESCRIPTIONS;
  return [
    { name: TAGS.requests, description: requests },
    { name: TAGS.storage, description: storage },
    { name: TAGS.relayers, description: relayers },
    { name: TAGS.administration, description: administration },
    ...(withWebhooks ? [{ name: TAGS.webhooks, description: TAG_DESCRIPTIONS.webhooks }] : []),
    { name: TAGS.operations, description: operations },
    ...(withDevIssuer || withDevRelayer ? [{ name: TAGS.development, description: TAG_DESCRIPTIONS.development }] : []),
    ...(withLocalObjects ? [{ name: TAGS.objects, description: TAG_DESCRIPTIONS.objects }] : []),
  ];
}

/**
 * Makes the OpenAPI document of the service: its schemas are those that validate, its errors those that the service's own
 * factories make, its routes those of the route table.
 *
 * It takes some milliseconds and much of zod, so import it where it is asked for, not at start.
 *
 * @param options - what differs from one deployment to another
 * @returns a plain object, ready for `JSON.stringify`
 * @throws Error if the route table has a route or status that nothing describes
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export function createOpenApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { publicUrl, maxBatchSize, maxBodyBytes } = options;
  return {
    openapi: '3.1.1',
    info: {
      title: 'Prism Gateway',
      version: gateway.version,
      summary: 'A queue of wallet-signed requests, and presigned URLs for encrypted objects',
      description: writeOverview({ maxBatchSize, maxBodyBytes }),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl, description: 'This service' }],
    tags: describeTags(options),
    security: [],
    paths: describePaths(options),
    ...(options.withWebhooks && { webhooks: describeEvents() }),
    components: {
      schemas: createSchemas({ maxBatchSize, withWebhooks: options.withWebhooks ?? false }),
      responses: createSharedResponses({ maxBodyBytes }),
      headers: API_ANSWER_HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
    'x-limits': {
      actions: ACTIONS.length,
      bodyBytes: maxBodyBytes,
      batchEntries: maxBatchSize,
      pageSize: { maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
      errorMessageCharacters: MAX_ERROR_MESSAGE_LENGTH,
      labelCharacters: MAX_LABEL_LENGTH,
      relayerTimestampSkewMs: RELAYER_TIMESTAMP_SKEW_MS,
    },
  };
}
