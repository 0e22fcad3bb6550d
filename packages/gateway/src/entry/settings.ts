import { join } from 'node:path';
import { chainNameFormat } from '@prism-gateway/protocol';
import {
  httpUrl as anyHttpUrl,
  type Environment,
  expected,
  flag,
  logLevel,
  oneOf,
  parseEnvironment,
  splitList,
  wholeNumber,
} from '@prism-gateway/runtime/settings';
import * as z from 'zod/mini';
import { isLoopback } from './isLoopback.ts';

export const DEV_ADMIN_KEY = 'change-me-admin-key';

/** Where metrics are served in `prod`: beside the port that Prometheus' own exporters use first. */
const PROD_METRICS_PORT = 9465;

/** Fewest characters of an admin key in `prod`. */
const MIN_PROD_KEY_LENGTH = 32;

/** Most shards of an index: a cursor holds each one's position in some 39 of the 1,024 characters that a `lastKey` may have. */
const MAX_INDEX_SHARDS = 24;

/** Largest body of which the compressed params surely fit one item of DynamoDB; hex digits take half a byte each. */
const MAX_DYNAMO_BODY_BYTES = 524_288;

/** Whether a browser writes it so in `Origin`: in lower case, without a slash at its end. Extensions have schemes of their own. */
function isOrigin(text: string): boolean {
  if (isHttpUrl(text)) return new URL(text).origin === text;
  return text === '*' || /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/.test(text);
}

const isHttpUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
/** User name and password of a URL end up in logs, and `fetch` refuses them. */
function hasCredentials(text: string): boolean {
  if (!isHttpUrl(text)) return false;
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}
const hasNoQuery = (text: string) => !isHttpUrl(text) || !/[?#]/.test(text);
const httpUrl = anyHttpUrl().check(
  z.refine((text) => !hasCredentials(text), expected('a URL without user name and password')),
);
const tableName = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_.-]{3,255}$/, expected('3 to 255 of letters, digits and "_ . -"')));
const isChainName = (text: string) => chainNameFormat.safeParse(text).success;
/** Reads `name=URL` parts with a comma between; undefined: one is none. */
function readPairs(text: string, isGood: (name: string, url: string) => boolean): Record<string, string> | undefined {
  const pairs = splitList(text).map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]);
  // Each is a name and a value.
  const given = pairs as [string, string][];
  return given.every(([name, url]) => isGood(name, url)) ? Object.fromEntries(given) : undefined;
}
const readExplorers = (text: string) =>
  readPairs(text, (name, url) => isChainName(name) && isHttpUrl(url) && url.includes('{hash}'));
const readStatusUrls = (text: string) =>
  readPairs(text, (name, url) => /^[\w -]{1,64}$/.test(name) && isHttpUrl(url) && !hasCredentials(url));
const limitAMinute = (fallback: number) => z._default(wholeNumber(0, 1_000_000_000), fallback);

const schema = z.object({
  HOST: z._default(z.string(), '127.0.0.1'),
  PORT: z._default(wholeNumber(0, 65_535), 8787),
  STAGE: z._default(oneOf(['dev', 'prod']), 'dev'),
  STORE: z._default(oneOf(['sqlite', 'dynamodb']), 'sqlite'),
  INDEX_SHARDS: z._default(wholeNumber(1, MAX_INDEX_SHARDS), 4),
  REQUEST_RETENTION_DAYS: z._default(wholeNumber(0, 36_500), 0),
  PENDING_RETENTION_DAYS: z._default(wholeNumber(0, 36_500), 30),
  REQUESTS_ONCE: z._default(oneOf(['asked', 'always']), 'asked'),
  MAX_OPEN_CLAIMS: z._default(wholeNumber(0, 1_000_000), 1000),
  PUBLIC_WAIT_SECONDS: z._default(wholeNumber(0, 25), 25),
  CHAINS: z.optional(
    z.string().check(z.refine((text) => splitList(text).every(isChainName), expected('names like eip155:8453'))),
  ),
  DATA_DIR: z._default(z.string(), './data'),
  REQUESTS_TABLE: z.optional(tableName),
  RELAYERS_TABLE: z.optional(tableName),
  RATELIMIT_TABLE: z.optional(tableName),
  DELIVERIES_TABLE: z.optional(tableName),
  STORAGE_BUCKET: z.optional(z.string()),
  S3_FORCE_PATH_STYLE: z._default(flag(), false),
  STORAGE_SIGNED_URL_TTL_SECONDS: z._default(wholeNumber(30, 300), 60),
  STORAGE_BIND_CONTENT: z._default(flag(), true),
  STORAGE_REQUIRE_SIZE: z._default(flag(), false),
  STORAGE_CORS_ORIGINS: z.optional(
    z
      .string()
      .check(
        z.refine((text) => splitList(text).every(isOrigin), expected('* or origins like https://app.example.org')),
      ),
  ),
  MIN_FREE_DISK_BYTES: z._default(wholeNumber(0, 1e15), 512 * 1024 * 1024),
  MAX_USER_BYTES: z._default(wholeNumber(0, 1e15), 10 * 1024 ** 3),
  MAX_OBJECT_BYTES: z._default(wholeNumber(1, 1e12), 100 * 1024 * 1024),
  PUBLIC_URL: z.optional(httpUrl.check(z.refine(hasNoQuery, expected('a URL without ? and #')))),
  IDENTITY_PROVIDER: z._default(oneOf(['oidc', 'privy']), 'oidc'),
  IDENTITY_ISSUER: z.optional(httpUrl),
  IDENTITY_APP_ID: z.optional(z.string()),
  IDENTITY_APP_SECRET: z.optional(z.string()),
  ADMIN_API_KEY: z._default(z.string(), DEV_ADMIN_KEY),
  CURSOR_SECRET: z.optional(z.string().check(z.minLength(32, expected('at least 32 characters')))),
  CLAIM_LEASE_SECONDS: z._default(wholeNumber(0, 31_536_000), 900),
  MAX_BODY_BYTES: z._default(wholeNumber(1024, 10 * 1024 * 1024), 262_144),
  MAX_BATCH_SIZE: z._default(wholeNumber(1, 10_000), 100),
  METRICS_HOST: z._default(z.string(), '127.0.0.1'),
  METRICS_PORT: z.optional(wholeNumber(0, 65_535)),
  MAX_CONNECTIONS: z._default(wholeNumber(0, 1_000_000), 12_000),
  MAX_CONNECTIONS_PER_PEER: z._default(wholeNumber(0, 1_000_000), 2000),
  RATE_LIMIT_WRITES: limitAMinute(600),
  RATE_LIMIT_READS: limitAMinute(3000),
  RATE_LIMIT_WRITE_BYTES: limitAMinute(16 * 1024 * 1024),
  RATE_LIMIT_SIGN: limitAMinute(600),
  RATE_LIMIT_CLAIMS: limitAMinute(6000),
  RATE_LIMIT_REPORTS: limitAMinute(12_000),
  RATE_LIMIT_AUTH_FAILURES: limitAMinute(120),
  RATE_LIMIT_ADMIN_FAILURES: limitAMinute(20),
  TRUSTED_PROXY_HOPS: z._default(wholeNumber(0, 16), 0),
  WEBHOOKS_ALLOW_PRIVATE: z._default(flag(), false),
  WEBHOOKS_DELIVERED_BY: z._default(oneOf(['server', 'functions']), 'server'),
  EXPLORER_URLS: z.optional(
    z
      .string()
      .check(
        z.refine(
          (text) => readExplorers(text) !== undefined,
          expected('parts like eip155:1=https://etherscan.io/tx/{hash}, with commas between'),
        ),
      ),
  ),
  STATUS_URLS: z.optional(
    z
      .string()
      .check(
        z.refine(
          (text) => readStatusUrls(text) !== undefined,
          expected('parts like relayer=http://127.0.0.1:9464/status, with commas between'),
        ),
      ),
  ),
  LOG_LEVEL: z._default(logLevel(), 'info'),
});

type Parsed = z.infer<typeof schema>;

/** Settings that are told in another form. */
type RefinedNames =
  | 'ADMIN_API_KEY'
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
  readonly storageCorsOrigins: readonly string[];
  /** The only chains that requests are taken for; empty: any. */
  readonly chains: readonly string[];
  /** Where a chain's transactions are shown, with `{hash}`, by the chain's name. */
  readonly explorers: Readonly<Record<string, string>>;
  /** Where the operator's other programs tell how they are, by name. */
  readonly statusUrls: Readonly<Record<string, string>>;
  readonly tables: { readonly requests: string; readonly relayers: string; readonly rateLimits: string };
  /** Where DynamoDB keeps deliveries of webhooks. */
  readonly deliveriesTable: string;
  /** The embedded store's file. */
  readonly databaseFile: string;
}

/** Faults of the admin keys. Header bytes beyond ASCII arrive in no certain encoding, so such a key would never match. */
function keyFaults(adminKeys: readonly string[], stage: string | undefined): readonly string[] {
  const faults: string[] = [];
  if (adminKeys.length < 1 || adminKeys.length > 2)
    faults.push('ADMIN_API_KEY: expected one key, or two with a comma between');
  if (!adminKeys.every((key) => /^[\x21-\x7e]+$/.test(key))) {
    faults.push('ADMIN_API_KEY: expected letters, digits and signs of ASCII, without spaces');
  }
  if (stage === 'prod' && adminKeys.some((key) => key === DEV_ADMIN_KEY || key.length < MIN_PROD_KEY_LENGTH)) {
    faults.push(`ADMIN_API_KEY: expected, in prod, keys of at least ${MIN_PROD_KEY_LENGTH} characters of your own`);
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

/** Faults of settings that do not go with the store. */
function storeFaults(given: Environment): string[] {
  const faults: string[] = [];
  if (given.STORE !== 'dynamodb' && given.WEBHOOKS_DELIVERED_BY === 'functions') {
    faults.push('WEBHOOKS_DELIVERED_BY: functions of AWS deliver with STORE=dynamodb alone');
  }
  if (given.STORE === 'dynamodb') {
    if (given.STAGE === 'prod' && given.CURSOR_SECRET === undefined) {
      faults.push('CURSOR_SECRET: required in prod with STORE=dynamodb: all functions must read the same cursors');
    }
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
    ...keyFaults(splitList(given.ADMIN_API_KEY ?? DEV_ADMIN_KEY), given.STAGE),
    ...identityFaults(given),
    ...storeFaults(given),
  ];
  const settings = parseEnvironment({ schema, findFaults }, environment);
  const { STAGE } = settings;
  return {
    ...settings,
    METRICS_PORT: settings.METRICS_PORT ?? (STAGE === 'prod' ? PROD_METRICS_PORT : 0),
    adminKeys: splitList(settings.ADMIN_API_KEY),
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
