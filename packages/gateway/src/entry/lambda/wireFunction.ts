import { readFile } from 'node:fs/promises';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { loadKeccak256 } from '@prism-gateway/node/crypto';
import { type Environment, SettingsError } from '@prism-gateway/node/settings';
import type { Tracing } from '@prism-gateway/node/tracing';
import { WEBHOOK_ROUTES, type WebhookRouteName } from '@prism-gateway/protocol/webhooks';
import type { Gateway } from '../../app.ts';
import { createUuidV7Source } from '../../createUuidV7Source.ts';
import { createDynamoClient, meterCapacity } from '../../drivers/dynamodb/createDynamoClient.ts';
import { createDynamoStores } from '../../drivers/dynamodb/createDynamoStores.ts';
import { createEmfMetrics } from '../../drivers/emf/createEmfMetrics.ts';
import { createS3SignerFromAws } from '../../drivers/s3/createS3SignerFromAws.ts';
import { loadCompactRecovery } from '../../drivers/secp256k1/loadCompactRecovery.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { routeNotFound } from '../../http/errors.ts';
import type { DocsAsset } from '../../ports/gatewayPorts.ts';
import type { Logger } from '../../ports/logger.ts';
import type { RequestStore } from '../../ports/requestStore.ts';
import type { CursorCodec } from '../../requests/createCursorCodec.ts';
import type { AdminAccess } from '../../routes/admin/adminAccess.ts';
import type { WebhookEndpoints } from '../../routes/admin/deliveries.ts';
import { createProviderVerifier } from '../createProviderVerifier.ts';
import { gatewayOptions } from '../gatewayOptions.ts';
import { createTracedGateway } from '../tracing/createTracedGateway.ts';
import type { Invocation } from './createInvocation.ts';
import { createRehearsal, type Rehearsal } from './createRehearsal.ts';
import type { FunctionSettings } from './functionSettings.ts';
import { measureQueue } from './measureQueue.ts';
import { fillOpenApi } from './openApiTemplate.ts';
import type { WebhookContext } from './openWebhookRoutes.ts';

const MS_PER_SECOND = 1000;

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Prism Gateway</title>
<h1>Prism Gateway</h1>
<p>This deployment serves its API reference as a document only: <a href="openapi.json">OpenAPI 3.1</a>.
Open it in any reader of such documents, or run the gateway on your machine (<code>npm start</code>) and read it there.</p>
</html>
`;

/** Finds what `/docs` shows on Lambda: a page that leads to the document. The reader itself would be four times the bundle. */
async function findDocsPage(name: string): Promise<DocsAsset | undefined> {
  return name === 'index.html' ? { contentType: 'text/html; charset=utf-8', body: page } : undefined;
}

interface WireContext {
  readonly settings: FunctionSettings;
  readonly environment: Environment;
  readonly invocation: Invocation;
  readonly logger: Logger;
  /** Takes a whole line of the log, and has written it when it returns. */
  readonly write: (line: string) => void;
  /** The OpenAPI document with placeholders, made at build time. */
  readonly openApiFile: URL;
  /** Absent: nothing is traced. */
  readonly tracing: Tracing | undefined;
}

/** The gateway in a function, and what else the function does. */
interface WiredFunction {
  readonly gateway: Gateway;
  /** How the gateway is called without a trace. */
  readonly rehearsal: Rehearsal;
  /** Writes the queue's figures for CloudWatch. @throws DependencyUnavailableError */
  readonly measureQueue: () => Promise<void>;
  /** Looks at the tables, as far as they answer. @throws TableLayoutError */
  readonly prepare: () => Promise<void>;
}

function openStores(client: DynamoDBClient, settings: FunctionSettings, now: () => number) {
  const { INDEX_SHARDS, REQUEST_RETENTION_DAYS, PENDING_RETENTION_DAYS, tables, deliveriesTable, chains } = settings;
  return createDynamoStores({
    ...{ client, tables, deliveriesTable, chains },
    indexShards: INDEX_SHARDS,
    requestRetentionDays: REQUEST_RETENTION_DAYS,
    pendingRetentionDays: PENDING_RETENTION_DAYS,
    now,
  });
}

async function loadCrypto() {
  const [keccak256, recoverPublicKey] = await Promise.all([loadKeccak256(), loadCompactRecovery()]);
  return { keccak256, recoverPublicKey };
}

function createOpenApiSource({ settings, invocation, openApiFile }: WireContext): () => Promise<string> {
  let template: Promise<string> | undefined;
  return async () => {
    template ??= readFile(openApiFile, 'utf8');
    const { PUBLIC_URL, MAX_BATCH_SIZE: maxBatchSize, MAX_BODY_BYTES: maxBodyBytes } = settings;
    const publicUrl = PUBLIC_URL?.replace(/\/+$/, '') ?? invocation.origin;
    return fillOpenApi(await template, { publicUrl, maxBatchSize, maxBodyBytes });
  };
}

/** The gateway of clients, whose calls may be traced; spans of rehearsed calls would be nobody's. */
function chooseGateway(wired: Parameters<typeof createTracedGateway>[0], { isOn }: Rehearsal): Gateway {
  const gateway = createTracedGateway(wired);
  // A call that waits keeps an instance, which is paid for, from everybody else.
  gateway.endWaits();
  if (wired.tracing === undefined) return gateway;
  const untraced = createTracedGateway({ ...wired, tracing: undefined });
  return { ...gateway, fetch: (...call) => (isOn() ? untraced : gateway).fetch(...call) };
}

/** Builds the gateway on the drivers that a function has: DynamoDB, S3, an identity provider, CloudWatch. */
export async function wireFunction(context: WireContext): Promise<WiredFunction> {
  const { settings, environment, logger, write, tracing } = context;
  const now = Date.now;
  const tokens = createProviderVerifier({ settings, now, logger });
  if (tokens === undefined) throw new SettingsError(['IDENTITY_APP_ID: required: your app at the identity provider']);
  const { STORAGE_BUCKET: bucket, S3_FORCE_PATH_STYLE: forcePathStyle } = settings;
  const [crypto, signer] = await Promise.all([
    loadCrypto(),
    createS3SignerFromAws({ bucket, forcePathStyle, env: environment }),
  ]);
  const client = createDynamoClient();
  const meter = meterCapacity(client);
  const stores = openStores(client, settings, now);
  const metrics = createEmfMetrics({ stage: settings.STAGE, write, now, takeUnits: meter.take });
  const requests = countReports(stores.requests, metrics.reported);
  const rehearsal = createRehearsal({ stage: settings.STAGE, now, write });
  const ports = rehearsal.silence({
    ...stores,
    requests,
    hasSpace: () => true,
    crypto,
    logger,
    now,
    signer,
    tokens,
    metrics: {
      ...metrics,
      async render() {
        // An instance knows of its own calls only, and a scraper could not choose among them.
        throw routeNotFound('GET', '/metrics');
      },
    },
    newId: createUuidV7Source(now),
    openApi: createOpenApiSource(context),
    docsAsset: findDocsPage,
    // The function is one file: the console is for servers.
    consoleAsset: async () => undefined,
    readPrograms: async () => [],
    readBudgets: () => [],
    readDisk: () => undefined,
    mounts: [],
  });
  const options = gatewayOptions(settings, new Uint8Array(0));
  const webhooks = { client, settings, admin: stores.admin, logger, now };
  const moreEndpoints = (access: AdminAccess, cursors: CursorCodec) => lazyWebhooks({ ...webhooks, cursors }, access);
  const measuring = {
    requests,
    chains: settings.chains,
    leaseMs: settings.CLAIM_LEASE_SECONDS * MS_PER_SECOND,
    now,
  };
  return {
    gateway: chooseGateway({ ports, options, moreEndpoints, tracing, flushes: true }, rehearsal),
    rehearsal,
    prepare: stores.prepare,
    measureQueue: async () => metrics.measured(await measureQueue(measuring)),
  };
}

/** Makes the endpoints of webhooks, whose code is loaded when one of them is called: no cold start pays for it. */
function lazyWebhooks(context: WebhookContext, access: AdminAccess): WebhookEndpoints {
  let loading: Promise<WebhookEndpoints> | undefined;
  async function load(): Promise<WebhookEndpoints> {
    const { openWebhookRoutes } = await import('./openWebhookRoutes.ts');
    return openWebhookRoutes(context, access);
  }
  const endpointOf = (name: WebhookRouteName): Endpoint<string> => ({
    ...access,
    route: WEBHOOK_ROUTES[name],
    async handle(request, keyId) {
      loading ??= load();
      return await (await loading)[name].handle(request, keyId);
    },
  });
  const names = Object.keys(WEBHOOK_ROUTES) as WebhookRouteName[];
  return Object.fromEntries(names.map((name) => [name, endpointOf(name)])) as WebhookEndpoints;
}

/** Has each report that moves a request counted; nothing else changes. */
function countReports(requests: RequestStore, count: () => void): RequestStore {
  return {
    ...requests,
    async report(report) {
      const transition = await requests.report(report);
      if (transition.outcome === 'moved') count();
      return transition;
    },
    async reportAll(...given) {
      const transitions = await requests.reportAll(...given);
      for (const { outcome } of transitions) if (outcome === 'moved') count();
      return transitions;
    },
  };
}
