import { join } from 'node:path';
import { type Environment, parseEnvironment, type SettingValues, splitList } from '@prism-gateway/node/settings';
import {
  DEV_ADMIN_KEY,
  gatewaySettings,
  isHttpUrl,
  PROD_METRICS_PORT,
  readExplorers,
  readStatusUrls,
} from './gatewaySettings.ts';
import { isLoopback } from './isLoopback.ts';

export { DEV_ADMIN_KEY, gatewaySettings, type Store } from './gatewaySettings.ts';

/** Fewest characters of an admin key in `prod`. */
const MIN_PROD_KEY_LENGTH = 32;

/** Largest body of which the compressed params surely fit one item of DynamoDB; hex digits take half a byte each. */
const MAX_DYNAMO_BODY_BYTES = 524_288;

type Parsed = SettingValues<typeof gatewaySettings>;

/** Settings that are shown in another form. */
type RefinedNames =
  | 'ADMIN_API_KEY'
  | 'ADMIN_READ_KEYS'
  | 'STORAGE_CORS_ORIGINS'
  | 'CHAINS'
  | 'METRICS_PORT'
  | 'EXPLORER_URLS'
  | 'STATUS_URLS';

/** All settings, parsed. */
export interface Settings extends Omit<Parsed, RefinedNames> {
  /** 0: no server of metrics. */
  readonly METRICS_PORT: number;
  readonly adminKeys: readonly string[];
  /** Keys of administrators who may read and not act. */
  readonly adminReadKeys: readonly string[];
  readonly storageCorsOrigins: readonly string[];
  /** The only chains that requests are taken for; empty: any. */
  readonly chains: readonly string[];
  /** Where a chain's transactions are shown, with `{hash}`, by the chain's name. */
  readonly explorers: Readonly<Record<string, string>>;
  /** Where the operator's other programs show how they are, by name. */
  readonly statusUrls: Readonly<Record<string, string>>;
  readonly tables: { readonly requests: string; readonly relayers: string; readonly rateLimits: string };
  /** Where DynamoDB keeps deliveries of webhooks. */
  readonly deliveriesTable: string;
  /** The embedded store's file. */
  readonly databaseFile: string;
}

/** Faults of the admin keys. Header bytes beyond ASCII arrive in no certain encoding, so such a key would never match. */
function keyFaults({ ADMIN_API_KEY = DEV_ADMIN_KEY, ADMIN_READ_KEYS = '', STAGE }: Environment): readonly string[] {
  const faults: string[] = [];
  const [adminKeys, readKeys] = [splitList(ADMIN_API_KEY), splitList(ADMIN_READ_KEYS)];
  if (adminKeys.length < 1 || adminKeys.length > 2)
    faults.push('ADMIN_API_KEY: expected one key, or two with a comma between');
  if (readKeys.some((key) => adminKeys.includes(key)))
    faults.push('ADMIN_READ_KEYS: expected other keys than ADMIN_API_KEY');
  for (const [name, keys] of [['ADMIN_API_KEY', adminKeys] as const, ['ADMIN_READ_KEYS', readKeys] as const]) {
    if (!keys.every((key) => /^[\x21-\x7e]+$/.test(key))) {
      faults.push(`${name}: expected letters, digits and signs of ASCII, without spaces`);
    }
    if (STAGE === 'prod' && keys.some((key) => key === DEV_ADMIN_KEY || key.length < MIN_PROD_KEY_LENGTH)) {
      faults.push(`${name}: expected, in prod, keys of at least ${MIN_PROD_KEY_LENGTH} characters of your own`);
    }
  }
  return faults;
}

function identityFaults(given: Environment): string[] {
  const { STAGE, IDENTITY_PROVIDER: provider = 'oidc', IDENTITY_ISSUER: issuer, IDENTITY_APP_ID: appId } = given;
  const faults: string[] = [];
  if (STAGE === 'prod' && provider === 'oidc' && issuer === undefined) {
    faults.push('IDENTITY_ISSUER: required in prod: the URL of your OpenID Connect provider');
  }
  if (
    STAGE === 'prod' &&
    issuer !== undefined &&
    isHttpUrl(issuer) &&
    new URL(issuer).protocol === 'http:' &&
    !isLoopback(issuer)
  ) {
    faults.push('IDENTITY_ISSUER: expected https in prod');
  }
  if (appId === undefined && (STAGE === 'prod' || issuer !== undefined || provider === 'privy')) {
    faults.push('IDENTITY_APP_ID: required: your app at the identity provider');
  }
  return faults;
}

/** Whether settings say that others than this machine reach the gateway. */
export const isPublic = ({ PUBLIC_URL = '', TRUSTED_PROXY_HOPS = 0 }: Partial<Pick<Settings, PublicNames>>): boolean =>
  PUBLIC_URL.startsWith('https:') || TRUSTED_PROXY_HOPS > 0;
type PublicNames = 'PUBLIC_URL' | 'TRUSTED_PROXY_HOPS';

/** In dev the administrator's key is known to all, and anybody gets tokens. */
function stageFaults({ STAGE = 'dev', ALLOW_DEV_IN_PUBLIC, PUBLIC_URL, TRUSTED_PROXY_HOPS }: Environment): string[] {
  if (STAGE !== 'dev' || ALLOW_DEV_IN_PUBLIC === 'true') return [];
  const hops = Number(TRUSTED_PROXY_HOPS ?? 0);
  if (!isPublic({ PUBLIC_URL: PUBLIC_URL ?? '', TRUSTED_PROXY_HOPS: hops })) return [];
  return [
    'STAGE: dev, with a development key and tokens for anybody, behind a proxy or https: set STAGE=prod, or ALLOW_DEV_IN_PUBLIC=true if you mean it',
  ];
}

/** Faults of settings that do not go with the store. */
function storeFaults(given: Environment): string[] {
  const faults: string[] = [];
  const { STAGE, STORE } = given;
  const isShared = STORE === 'postgres' || STORE === 'dynamodb';
  if (STAGE === 'prod' && isShared && given.CURSOR_SECRET === undefined) {
    faults.push(`CURSOR_SECRET: required in prod with STORE=${STORE}: all that serve must read the same cursors`);
  }
  if (STAGE === 'prod' && STORE === 'postgres' && given.DATABASE_URL === undefined) {
    faults.push('DATABASE_URL: required in prod with STORE=postgres: where your PostgreSQL is');
  }
  if (STORE === 'dynamodb') {
    if (Number(given.MAX_BODY_BYTES) > MAX_DYNAMO_BODY_BYTES) {
      faults.push(
        `MAX_BODY_BYTES: expected at most ${MAX_DYNAMO_BODY_BYTES} with STORE=dynamodb, whose items hold 400 kB`,
      );
    }
  }
  return faults;
}

/**
 * Parses all settings, once, at start. An empty value counts as unset.
 *
 * @throws SettingsError that names every fault and repeats no value
 * @see docs/specification.md SETTING-1
 */
export function parseSettings(environment: Environment): Settings {
  const findFaults = (given: Environment) => [
    ...keyFaults(given),
    ...identityFaults(given),
    ...storeFaults(given),
    ...stageFaults(given),
  ];
  const settings = parseEnvironment({ settings: gatewaySettings, findFaults }, environment);
  const { STAGE } = settings;
  return {
    ...settings,
    METRICS_PORT: settings.METRICS_PORT ?? (STAGE === 'prod' ? PROD_METRICS_PORT : 0),
    adminKeys: splitList(settings.ADMIN_API_KEY),
    adminReadKeys: splitList(settings.ADMIN_READ_KEYS ?? ''),
    chains: splitList(settings.CHAINS ?? ''),
    explorers: readExplorers(settings.EXPLORER_URLS ?? '') ?? {},
    statusUrls: readStatusUrls(settings.STATUS_URLS ?? '') ?? {},
    storageCorsOrigins: splitList(settings.STORAGE_CORS_ORIGINS ?? (STAGE === 'dev' ? '*' : '')),
    tables: {
      requests: settings.REQUESTS_TABLE ?? `service-requests-${STAGE}`,
      relayers: settings.RELAYERS_TABLE ?? `service-relayers-${STAGE}`,
      rateLimits: settings.RATELIMIT_TABLE ?? `service-ratelimit-${STAGE}`,
    },
    deliveriesTable: settings.DELIVERIES_TABLE ?? `service-deliveries-${STAGE}`,
    databaseFile: join(settings.DATA_DIR, `gateway-${STAGE}.db`),
  };
}
