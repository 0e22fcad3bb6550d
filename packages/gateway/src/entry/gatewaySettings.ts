import {
  httpUrl as anyHttpUrl,
  expected,
  flag,
  logLevel,
  oneOf,
  setting,
  splitList,
  wholeNumber,
} from '@prism-gateway/node/settings';
import { chainNameFormat } from '@prism-gateway/protocol';
import * as z from 'zod/mini';

export const DEV_ADMIN_KEY = 'change-me-admin-key';

/** Where metrics are served in `prod`: beside the port that Prometheus' own exporters use first. */
export const PROD_METRICS_PORT = 9465;

/** Most shards of an index: a cursor holds each one's position in some 39 of the 1,024 characters that a `lastKey` may have. */
const MAX_INDEX_SHARDS = 24;

/** Whether a browser writes it so in `Origin`: in lower case, without a slash at its end. Extensions have schemes of their own. */
function isOrigin(text: string): boolean {
  if (isHttpUrl(text)) return new URL(text).origin === text;
  return text === '*' || /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/.test(text);
}

export const isHttpUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
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
export const readExplorers = (text: string) =>
  readPairs(text, (name, url) => isChainName(name) && isHttpUrl(url) && url.includes('{hash}'));
export const readStatusUrls = (text: string) =>
  readPairs(text, (name, url) => /^[\w -]{1,64}$/.test(name) && isHttpUrl(url) && !hasCredentials(url));

/** Where the queue may be kept. */
export const STORES = ['sqlite', 'postgres', 'dynamodb'] as const;
export type Store = (typeof STORES)[number];

/** A list with commas between, each part of a form. */
const listText = (isGood: (part: string) => boolean, what: string) =>
  z.string().check(z.refine((text) => splitList(text).every(isGood), expected(what)));
const pairsText = (read: (text: string) => unknown, what: string) =>
  z.string().check(z.refine((text) => read(text) !== undefined, expected(what)));
const daysLong = wholeNumber(0, 36_500);
const byteCount = wholeNumber(0, 1e15);
const count = wholeNumber(0, 1_000_000);
const aMinute = wholeNumber(0, 1_000_000_000);

/** The gateway's settings: the one place of their forms, defaults and meanings. */
export const gatewaySettings = {
  HOST: setting(z.string(), 'address that it listens on', { initial: '127.0.0.1' }),
  PORT: setting(wholeNumber(0, 65_535), 'port that it listens on; 0 is any free one', { initial: '8787' }),
  PUBLIC_URL: setting(
    httpUrl.check(z.refine(hasNoQuery, expected('a URL without ? and #'))),
    'base of its own URLs, if clients see another address than its own',
    { unset: 'http://HOST:PORT' },
  ),
  STAGE: setting(oneOf(['dev', 'prod']), 'dev or prod; prod refuses development defaults', { initial: 'dev' }),
  DATA_DIR: setting(z.string(), 'folder of the database, local objects and generated secrets', { initial: './data' }),
  LOG_LEVEL: setting(logLevel(), 'least level that is written: debug, info, warn, error or silent', {
    initial: 'info',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    z.string(),
    "collector of OpenTelemetry's traces, with the other OTEL_ variables of its specification; unset: nothing is traced",
  ),
  DRAIN_SECONDS: setting(wholeNumber(0, 300), 'how long /ready says 503 before it stops listening', { initial: '0' }),
  METRICS_PORT: setting(wholeNumber(0, 65_535), 'serves /metrics on METRICS_HOST; 0 is off', {
    unset: `0; ${PROD_METRICS_PORT} in prod`,
  }),
  METRICS_HOST: setting(z.string(), 'another address only in a network of your own', { initial: '127.0.0.1' }),

  STORE: setting(oneOf(STORES), 'where the queue is kept: sqlite, postgres or dynamodb', {
    initial: 'sqlite',
    heading: 'The queue',
  }),
  DATABASE_URL: setting(
    z.string().check(z.regex(/^postgres(ql)?:\/\/\S+$/, expected('a URL like postgres://user:password@host/database'))),
    'postgres://user:password@host/database; unset in dev: an embedded PostgreSQL',
    { isSecret: true },
  ),
  DATABASE_POOL_SIZE: setting(
    wholeNumber(1, 1000),
    'connections to PostgreSQL for reading; two more write and listen',
    {
      initial: '8',
    },
  ),
  AWS_REGION: setting(z.string(), 'region of DynamoDB and S3; this and other AWS_ variables as the AWS SDK reads them'),
  AWS_ENDPOINT_URL_DYNAMODB: setting(z.string(), 'a local engine of DynamoDB, which gets its tables'),
  REQUESTS_TABLE: setting(tableName, 'name of this table of DynamoDB', { unset: 'service-requests-STAGE' }),
  RELAYERS_TABLE: setting(tableName, 'name of this table of DynamoDB', { unset: 'service-relayers-STAGE' }),
  RATELIMIT_TABLE: setting(tableName, 'name of this table of DynamoDB', { unset: 'service-ratelimit-STAGE' }),
  DELIVERIES_TABLE: setting(tableName, "name of DynamoDB's table of deliveries of webhooks", {
    unset: 'service-deliveries-STAGE',
  }),
  INDEX_SHARDS: setting(wholeNumber(1, MAX_INDEX_SHARDS), "partitions of DynamoDB's indexes; only ever raise it", {
    initial: '4',
  }),
  CHAINS: setting(
    listText(isChainName, 'names like eip155:8453'),
    'names of the only chains that requests are taken for, with commas between',
    { unset: 'any' },
  ),
  REQUESTS_ONCE: setting(oneOf(['asked', 'always']), 'always: every signature is taken once, asked or not', {
    initial: 'asked',
  }),
  REQUEST_RETENTION_DAYS: setting(daysLong, 'when finished requests are removed; 0 is never', { initial: '0' }),
  PENDING_RETENTION_DAYS: setting(daysLong, 'when requests that nobody has claimed are removed; 0 is never', {
    initial: '30',
  }),
  CLAIM_LEASE_SECONDS: setting(wholeNumber(0, 31_536_000), 'after how long a claim may be taken over; 0 is never', {
    initial: '900',
  }),
  MAX_CLAIM_SECONDS: setting(
    wholeNumber(0, 315_360_000),
    'how long a relayer may hold a request by renewing; 0 is for ever',
    { unset: '4 leases' },
  ),
  MAX_OPEN_CLAIMS: setting(count, 'most requests that one relayer may hold; 0 is no bound', { initial: '1000' }),
  CURSOR_SECRET: setting(
    z.string().check(z.minLength(32, expected('at least 32 characters'))),
    'seals list cursors; set it where several machines serve',
    { unset: 'generated', isSecret: true },
  ),

  ADMIN_API_KEY: setting(z.string(), "the administrator's key; two with a comma between while one replaces the other", {
    initial: DEV_ADMIN_KEY,
    isSecret: true,
    heading: 'Who may call, and how much',
  }),
  ADMIN_READ_KEYS: setting(z.string(), 'keys that may read what the administrator sees, and not act; commas between', {
    isSecret: true,
  }),
  IDENTITY_PROVIDER: setting(oneOf(['oidc', 'privy']), 'oidc or privy', { initial: 'oidc' }),
  IDENTITY_ISSUER: setting(httpUrl, 'OpenID Connect issuer; unset in dev: the built-in one'),
  IDENTITY_APP_ID: setting(z.string(), 'your app at the identity provider'),
  IDENTITY_APP_SECRET: setting(z.string(), "the app's secret, to ask whether a token is revoked", { isSecret: true }),
  IDENTITY_MAX_TOKEN_AGE_SECONDS: setting(
    wholeNumber(0, 31_536_000),
    'oldest access token that is taken, by its iat; 0 is any',
    { unset: '3600 with privy, else 0' },
  ),
  TRUSTED_PROXY_HOPS: setting(wholeNumber(0, 16), 'proxies in front whose X-Forwarded-For is believed', {
    initial: '0',
  }),
  ALLOW_DEV_IN_PUBLIC: setting(flag(), 'lets STAGE=dev start behind a proxy or https', { initial: 'false' }),
  MAX_BODY_BYTES: setting(wholeNumber(1024, 10 * 1024 * 1024), 'largest body of a request', { initial: '262144' }),
  MAX_BATCH_SIZE: setting(wholeNumber(1, 10_000), 'most entries of a batch', { initial: '100' }),
  RATE_LIMIT_WRITES: setting(aMinute, 'POST, PATCH and DELETE a minute and client; 0 is off', { initial: '600' }),
  RATE_LIMIT_READS: setting(aMinute, 'GET a minute and client; 0 is off', { initial: '3000' }),
  RATE_LIMIT_WRITE_BYTES: setting(aMinute, 'bytes a minute and peer of bodies without a key; 0 is off', {
    initial: '16777216',
  }),
  RATE_LIMIT_READ_BYTES: setting(aMinute, 'bytes a minute and peer of larger answers without a key; 0 is off', {
    initial: '33554432',
  }),
  RATE_LIMIT_SIGN: setting(aMinute, 'presigned URLs a minute and user; 0 is off', { initial: '600' }),
  RATE_LIMIT_CLAIMS: setting(aMinute, 'claims a minute and relayer; a batch counts each request; 0 is off', {
    initial: '6000',
  }),
  RATE_LIMIT_REPORTS: setting(aMinute, 'reports a minute and relayer; a batch counts each request; 0 is off', {
    initial: '12000',
  }),
  RATE_LIMIT_AUTH_FAILURES: setting(aMinute, 'failed authentications a minute and peer; 0 is off', { initial: '120' }),
  RATE_LIMIT_ADMIN_FAILURES: setting(aMinute, 'wrong admin keys a minute and peer; 0 is off', { initial: '20' }),
  MAX_CONNECTIONS: setting(count, 'most connections; 0 is no bound', { initial: '12000' }),
  MAX_CONNECTIONS_PER_PEER: setting(count, 'most of one peer, or calls of one client behind proxies; 0 is no bound', {
    initial: '2000',
  }),
  PUBLIC_WAIT_SECONDS: setting(wholeNumber(0, 25), 'longest wait of a call without a key; 0 is none', {
    initial: '25',
  }),
  MAX_WAITS: setting(count, 'most calls that wait; 0 is no bound', { initial: '10000' }),
  MAX_WAITS_PER_CLIENT: setting(count, 'most calls of one client that wait; 0 is no bound', { initial: '1000' }),

  STORAGE_BUCKET: setting(z.string(), 'S3 bucket; unset: objects under DATA_DIR', { heading: 'Objects' }),
  S3_FORCE_PATH_STYLE: setting(flag(), 'for stores that are compatible with S3', { initial: 'false' }),
  AWS_ENDPOINT_URL_S3: setting(z.string(), 'address of a store that is compatible with S3'),
  STORAGE_SIGNED_URL_TTL_SECONDS: setting(wholeNumber(30, 300), 'lifetime of a presigned URL, 30 to 300', {
    initial: '60',
  }),
  STORAGE_BIND_CONTENT: setting(flag(), 'a put must match the hash it is stored under', { initial: 'true' }),
  STORAGE_REQUIRE_SIZE: setting(flag(), 'a put must say its size, and is signed for no other', { initial: 'false' }),
  STORAGE_CORS_ORIGINS: setting(
    listText(isOrigin, '* or origins like https://app.example.org'),
    'origins that may use local presigned URLs',
    { unset: '* in dev' },
  ),
  MAX_OBJECT_BYTES: setting(wholeNumber(1, 1e12), 'largest object', { initial: '104857600' }),
  MAX_USER_BYTES: setting(byteCount, "most bytes of one user's local objects; 0 is no bound", {
    initial: '10737418240',
  }),
  MAX_PENDING_BYTES: setting(byteCount, 'most bytes of all pending requests; 0 is no bound', { initial: '4294967296' }),
  MIN_FREE_DISK_BYTES: setting(byteCount, 'free disk below which posts get 503; 0 is off', { initial: '536870912' }),
  MIN_FREE_UPLOAD_BYTES: setting(byteCount, 'free disk below which uploads get 503; 0 is off', {
    unset: '4 times as much',
  }),

  WEBHOOKS_ALLOW_PRIVATE: setting(flag(), 'lets webhooks go to http and private addresses', {
    initial: 'false',
    heading: 'Webhooks and the console',
  }),
  EXPLORER_URLS: setting(
    pairsText(readExplorers, 'parts like eip155:1=https://etherscan.io/tx/{hash}, with commas between'),
    'links of the console, like eip155:1=https://etherscan.io/tx/{hash}',
  ),
  STATUS_URLS: setting(
    pairsText(readStatusUrls, 'parts like relayer=http://127.0.0.1:9464/status, with commas between'),
    'programs that it shows, like relayer=http://127.0.0.1:9464/status',
  ),
} as const;
