import type { DynamoClientSettings } from '../drivers/dynamodb/createDynamoClient.ts';
import type { HelperThread } from '../ports/helperThread.ts';
import type { RateLimitStore } from '../ports/rateLimitStore.ts';
import type { RelayerStore } from '../ports/relayerStore.ts';
import type { RequestStore } from '../ports/requestStore.ts';
import { isLoopback } from './isLoopback.ts';
import type { Environment, Settings } from './settings.ts';

export interface Stores {
  readonly requests: RequestStore;
  readonly relayers: RelayerStore;
  readonly rateLimits: RateLimitStore;
  /** @throws DependencyUnavailableError */
  checkReady(): Promise<void>;
  /** Finishes what is under way. */
  close(): Promise<void>;
}

interface StoresContext {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly now: () => number;
  /** Where an embedded store writes. */
  readonly helper: HelperThread;
}

/** Access that local engines take; they check neither region nor keys. */
const LOCAL_ACCESS = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } } as const;

/** The endpoint that the AWS SDK will read, if it is on this machine. */
function localEndpoint({ settings, environment }: StoresContext): string | undefined {
  const endpoint = environment.AWS_ENDPOINT_URL_DYNAMODB || environment.AWS_ENDPOINT_URL;
  if (settings.STAGE !== 'dev' || !endpoint || !URL.canParse(endpoint)) return undefined;
  return isLoopback(endpoint) ? endpoint : undefined;
}

/** What a local engine can do without: the AWS SDK would look for a region and for keys, and give up. */
function clientSettings(context: StoresContext): DynamoClientSettings {
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_PROFILE } = context.environment;
  const region = AWS_REGION || AWS_DEFAULT_REGION;
  const given = region ? { region } : {};
  if (localEndpoint(context) === undefined || AWS_PROFILE) return given;
  return AWS_ACCESS_KEY_ID ? { region: LOCAL_ACCESS.region, ...given } : { ...LOCAL_ACCESS, ...given };
}

async function openDynamoDb(context: StoresContext): Promise<Stores> {
  const { settings, now } = context;
  const { createDynamoClient } = await import('../drivers/dynamodb/createDynamoClient.ts');
  const { createDynamoStores } = await import('../drivers/dynamodb/createDynamoStores.ts');
  const client = createDynamoClient(clientSettings(context));
  const endpoint = localEndpoint(context);
  if (endpoint !== undefined) {
    const { createTables } = await import('../drivers/dynamodb/createTables.ts');
    await createTables(client, settings.tables).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`DynamoDB at ${endpoint} cannot be used: start it, or set STORE=sqlite. (${why})`, { cause });
    });
  }
  const { INDEX_SHARDS: indexShards, REQUEST_RETENTION_DAYS: requestRetentionDays } = settings;
  return createDynamoStores({ client, tables: settings.tables, indexShards, requestRetentionDays, now });
}

/**
 * Opens the stores that `STORE` names; the other's code is not even loaded. A local DynamoDB engine gets its tables here, on AWS
 * they are there already.
 *
 * @throws Error where a local engine does not answer; SQLite's own errors for a file that cannot be opened
 */
export async function openStores(context: StoresContext): Promise<Stores> {
  const { settings } = context;
  if (settings.STORE === 'dynamodb') return await openDynamoDb(context);
  const { openSqliteStores } = await import('../drivers/sqlite/stores.ts');
  return openSqliteStores(settings.databaseFile, settings.tables, context.helper);
}
