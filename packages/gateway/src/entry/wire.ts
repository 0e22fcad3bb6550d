import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { loadKeccak256, loadSecp256k1 } from '@prism-gateway/node/crypto';
import { createLogger, type LogOutput, openLogOutput } from '@prism-gateway/node/logs';
import type { Environment } from '@prism-gateway/node/settings';
import { openTracing } from '@prism-gateway/node/tracing';
import type { Gateway } from '../app.ts';
import { createUuidV7Source } from '../createUuidV7Source.ts';
import { createConsoleAssets } from '../drivers/console/createConsoleAssets.ts';
import { createDevRelayer, type DevRelayerOptions } from '../drivers/devRelayer/createDevRelayer.ts';
import { createSpaceGuard, readFreeBytes } from '../drivers/disk/createSpaceGuard.ts';
import { createProgramReader } from '../drivers/programs/createProgramReader.ts';
import { createMetrics } from '../drivers/prometheus/createMetrics.ts';
import { offloadRecovery } from '../drivers/secp256k1/offloadRecovery.ts';
import { createDocsAssets } from '../drivers/swaggerUi/createDocsAssets.ts';
import { createWebhookPost } from '../drivers/webhooks/createWebhookPost.ts';
import { createPendingSpace } from '../http/createPendingSpace.ts';
import { DependencyUnavailableError } from '../ports/errors.ts';
import type { BudgetUse, DiskUse, Mount } from '../ports/gatewayPorts.ts';
import type { Logger } from '../ports/logger.ts';
import type { TokenVerifier } from '../ports/tokenVerifier.ts';
import type { DeliveryQueue } from '../ports/webhookStore.ts';
import { startDispatcher } from '../push/startDispatcher.ts';
import { webhookEndpoints } from '../routes/admin/deliveries.ts';
import { answersAdminLocally } from './answersAdminLocally.ts';
import { readLastBackup } from './backup/lastBackup.ts';
import { createStorage } from './createStorage.ts';
import { gatewayOptions } from './gatewayOptions.ts';
import { openStores } from './openStores.ts';
import { loadLocalSecrets } from './secrets.ts';
import type { Settings } from './settings.ts';
import { createTracedGateway } from './tracing/createTracedGateway.ts';
import { createWorkerThread, type OwnedWorkerThread } from './workerThread/createWorkerThread.ts';

export interface WiredGateway extends Gateway {
  readonly usesDevIssuer: boolean;
  readonly logger: Logger;
  /** The text that Prometheus scrapes. */
  renderMetrics(): Promise<string>;
  /** Writes what the log has gathered: the last thing that the process does. */
  closeLog(): Promise<void>;
  /** Has `/ready` say 503 from now on. */
  stopBeingReady(): void;
  /** Finishes every write and closes the stores. */
  close(): Promise<void>;
}

/** How long a line of the log may wait for others, in milliseconds: a busy service writes thousands a second. */
const LOG_GATHER_MS = 100;

interface WireContext {
  readonly settings: Settings;
  readonly environment: Environment;
  /** Base of this service's own URLs, without a trailing slash. */
  readonly publicUrl: string;
  /** Reads the use of the server's budgets; absent: there is no server. */
  readonly readBudgets?: () => readonly BudgetUse[];
  /** Whether answers leave room for more; absent: there is no server. */
  readonly hasAnswerRoom?: () => boolean;
  /** Default: a thread of Node's. */
  readonly thread?: OwnedWorkerThread;
  /** Where the log goes; default: standard output. */
  readonly log?: LogOutput;
}

/** Bytes, which all answers under way share: of a text, each would encode and keep its own third of a megabyte. */
function createOpenApiSource({ settings, publicUrl }: WireContext, withDevIssuer: boolean) {
  let bytes: Promise<Uint8Array<ArrayBuffer>> | undefined;
  async function write(): Promise<Uint8Array<ArrayBuffer>> {
    const { createOpenApiDocument } = await import('../openapi/createOpenApiDocument.ts');
    const { MAX_BATCH_SIZE: maxBatchSize, MAX_BODY_BYTES: maxBodyBytes } = settings;
    const withLocalObjects = settings.STORAGE_BUCKET === undefined;
    const withDevRelayer = settings.STAGE === 'dev';
    const own = { withDevIssuer, withDevRelayer, withLocalObjects, withWebhooks: true };
    const document = { publicUrl, maxBatchSize, maxBodyBytes, ...own };
    return new TextEncoder().encode(JSON.stringify(createOpenApiDocument(document)));
  }
  return () => {
    bytes ??= write();
    return bytes;
  };
}

/** In `dev` alone, and to nobody from afar: who reaches it signs as a relayer. */
function mountDevRelayer({ STAGE }: Settings, options: DevRelayerOptions): Mount[] {
  if (STAGE !== 'dev') return [];
  return [{ prefix: '/dev/relayer/', fetch: createDevRelayer(options), withApiHeaders: true, localOnly: true }];
}

/** Delivers what waits for webhooks, if it is this process that does. @returns ends it */
function startDelivering(
  queue: DeliveryQueue | undefined,
  { allowPrivate, logger }: { readonly allowPrivate: boolean; readonly logger: Logger },
): () => Promise<void> {
  if (queue === undefined) return async () => undefined;
  const post = createWebhookPost({ allowPrivate });
  const dispatcher = startDispatcher({ queue, post, logger, now: Date.now });
  return async function stopDelivering() {
    await dispatcher.close();
    post.close();
  };
}

/** How full the disk is, if something of the service is on it. */
function readDisk(settings: Settings, needsDisk: boolean): DiskUse | undefined {
  const { STORAGE_BUCKET, DATA_DIR, MIN_FREE_DISK_BYTES } = settings;
  if (!needsDisk && STORAGE_BUCKET !== undefined) return undefined;
  const freeBytes = readFreeBytes(DATA_DIR);
  return freeBytes === undefined ? undefined : { freeBytes, leastFreeBytes: MIN_FREE_DISK_BYTES };
}

/** Bytes that the disk has beyond its reserve; one that cannot be asked is taken to have room. */
function readRoom({ DATA_DIR, MIN_FREE_DISK_BYTES }: Settings): number {
  return (readFreeBytes(DATA_DIR) ?? Number.POSITIVE_INFINITY) - MIN_FREE_DISK_BYTES;
}

/** Uploads stop, unless it is set, while less than this many times the room of new requests is free: one user's objects do not stop the queue. */
const UPLOAD_RESERVES = 4;

/** Chooses the drivers that the settings ask for, and builds the gateway on them. */
export async function wireGateway(context: WireContext): Promise<WiredGateway> {
  const { settings, environment, publicUrl, hasAnswerRoom, thread = createWorkerThread() } = context;
  const readBudgets = () => [...(context.readBudgets?.() ?? []), gateway.readWaits()];
  const now = Date.now;
  const keccak256 = await loadKeccak256();
  const secrets = loadLocalSecrets(settings.DATA_DIR);
  const { log = openLogOutput({ gatherMs: LOG_GATHER_MS }) } = context;
  const tracing = openTracing({
    environment,
    serviceName: 'prism-gateway',
    onFault: (reason) => logger.warn({ code: 'TRACES_NOT_DELIVERED', reason }, 'the collector takes no traces'),
  });
  const joined = tracing && { fields: tracing.tracer.logFields };
  const logger: Logger = createLogger({ level: settings.LOG_LEVEL, write: log.write, now, ...joined });
  const signingKey = secrets.objectSigningKey;
  const guard = { directory: settings.DATA_DIR, now: () => performance.now(), logger };
  const { MIN_FREE_DISK_BYTES: minFreeBytes, MIN_FREE_UPLOAD_BYTES = UPLOAD_RESERVES * minFreeBytes } = settings;
  const hasSpace = createSpaceGuard({ ...guard, what: 'new requests', minFreeBytes });
  const hasUploadSpace = createSpaceGuard({ ...guard, what: 'uploads', minFreeBytes: MIN_FREE_UPLOAD_BYTES });
  const storage = await createStorage({
    ...{ settings, environment, publicUrl, signingKey, now, logger },
    hasSpace: hasUploadSpace,
  });
  const identity = await createIdentity({ settings, publicUrl, devAppSecret: secrets.devAppSecret, now, logger });
  const stores = await openStores({ settings, environment, now, thread });
  const readQueue = () => stores.admin.readStats(now());
  const { findOldestPending } = stores.admin;
  const metrics = createMetrics(
    {
      readStats: stores.requests.stats,
      readDisk: () => readDisk(settings, stores.needsDisk),
      readLastBackup: () => readLastBackup(settings.DATA_DIR),
      listWebhooks: stores.webhooks.list,
      ...{ readQueue, findOldestPending, readBudgets },
    },
    now,
  );
  const secp256k1 = loadSecp256k1();
  const devRelayer = { secret: secrets.devAppSecret, keccak256, secp256k1, now };
  const allowPrivate = settings.WEBHOOKS_ALLOW_PRIVATE;
  const webhookOptions = { allowPrivate, canDeliver: stores.canDeliver };
  const webhookPorts = { webhooks: stores.webhooks, admin: stores.admin, logger, now, randomBytes };
  let isStopping = false;
  const gateway = createTracedGateway({
    ports: {
      ...stores,
      async checkReady() {
        if (isStopping) throw new DependencyUnavailableError('service, which stops,');
        await stores.checkReady();
      },
      hasSpace: stores.needsDisk ? hasSpace : () => true,
      pendingSpace: createPendingSpace({
        requests: stores.requests,
        maxBytes: settings.MAX_PENDING_BYTES,
        freeDisk: stores.needsDisk && minFreeBytes > 0 ? () => readRoom(settings) : undefined,
        now: guard.now,
        logger,
      }),
      crypto: { keccak256, ...offloadRecovery(secp256k1.recoverPublicKey, thread) },
      logger,
      now,
      signer: storage.signer,
      tokens: identity.tokens,
      metrics,
      newId: createUuidV7Source(now),
      openApi: createOpenApiSource(context, identity.usesDevIssuer),
      docsAsset: createDocsAssets(),
      consoleAsset: createConsoleAssets(),
      readPrograms: createProgramReader(settings.statusUrls),
      readBudgets,
      hasAnswerRoom,
      readDisk: () => readDisk(settings, stores.needsDisk),
      mounts: [...storage.mounts, ...identity.mounts, ...mountDevRelayer(settings, devRelayer)],
    },
    options: gatewayOptions(settings, secrets.cursorKey),
    moreEndpoints: (access, cursors) => webhookEndpoints({ ...webhookPorts, cursors }, access, webhookOptions),
    tracing,
    flushes: false,
  });
  const stopDelivering = startDelivering(stores.deliveries, { allowPrivate, logger });
  return {
    ...gateway,
    logger,
    renderMetrics: async () => (await metrics.render()).body,
    closeLog: log.close,
    usesDevIssuer: identity.usesDevIssuer,
    stopBeingReady() {
      isStopping = true;
    },
    async close() {
      await stopDelivering();
      await stores.close();
      await thread.close();
      await tracing?.close();
    },
  };
}

/** Where the development issuer is mounted. */
const DEV_ISSUER_PATH = '/dev/identity';

/** `IDENTITY_APP_ID` of the development issuer if none is set. */
const DEV_APP_ID = 'prism-gateway-dev';

interface Identity {
  readonly tokens: TokenVerifier;
  readonly mounts: readonly Mount[];
  readonly usesDevIssuer: boolean;
}

/** Whether there may be one: what the settings of a provider are is looked at where it is made. */
const hasProvider = ({ IDENTITY_APP_ID }: Settings) => IDENTITY_APP_ID !== undefined;

interface IdentityContext {
  readonly settings: Settings;
  readonly publicUrl: string;
  readonly devAppSecret: string;
  readonly now: () => number;
  readonly logger: Logger;
}

/** The built-in issuer, and a verifier that reaches it by function call: the same protocol without the network. */
async function openDevIssuer({ settings, publicUrl, devAppSecret, now, logger }: IdentityContext) {
  const [{ createDevIssuer }, { createOidcVerifier }] = await Promise.all([
    import('../drivers/devIssuer/createDevIssuer.ts'),
    import('../drivers/oidc/createOidcVerifier.ts'),
  ]);
  const issuer = `${publicUrl}${DEV_ISSUER_PATH}`;
  const app = {
    appId: settings.IDENTITY_APP_ID ?? DEV_APP_ID,
    appSecret: settings.IDENTITY_APP_SECRET ?? devAppSecret,
  };
  const devIssuer = createDevIssuer({ issuer, ...app, directory: join(settings.DATA_DIR, 'identity'), now });
  const callIssuer: typeof globalThis.fetch = (input, init) => devIssuer.fetch(new Request(input, init));
  const tokens = createOidcVerifier({ issuer, ...app, allowInsecureHttp: true, fetch: callIssuer, now, logger });
  return { devIssuer, tokens };
}

/** Opens the issuer when it is first asked: a gateway whose storage nobody tries starts without the 60 modules for tokens. */
function createDevIdentity(context: IdentityContext): Identity {
  let opened: ReturnType<typeof openDevIssuer> | undefined;
  const open = () => {
    opened ??= openDevIssuer(context).catch((error: unknown) => {
      // A full disk, say, is not for ever.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    tokens: { verify: async (token) => await (await open()).tokens.verify(token) },
    mounts: [
      {
        prefix: `${DEV_ISSUER_PATH}/`,
        fetch: async (request) => await (await open()).devIssuer.fetch(request),
        withApiHeaders: true,
        localOnly: answersAdminLocally(context.settings),
      },
    ],
    usesDevIssuer: true,
  };
}

/** Chooses who vouches for users. */
async function createIdentity(context: IdentityContext): Promise<Identity> {
  if (!hasProvider(context.settings)) return createDevIdentity(context);
  const { createProviderVerifier } = await import('./createProviderVerifier.ts');
  const tokens = createProviderVerifier(context);
  return tokens === undefined ? createDevIdentity(context) : { tokens, mounts: [], usesDevIssuer: false };
}
