/** Settings of the stack itself, with what they stand for; the command line writes them as options: `--alarm-email`. */
export const STACK_SETTINGS = {
  STAGE: 'dev or prod; suffix of the tables (dev)',
  REGION: 'AWS region, like eu-central-1; needed to deploy',
  PRODUCTION_ORIGIN:
    'web origins that may reach the bucket, with commas between; needed in prod: https://app.example.org',
  LOCAL_ORIGINS:
    'local frontends that may, too; none: none (http://localhost:3000,http://localhost:5173,http://127.0.0.1:3000,http://127.0.0.1:5173)',
  IDENTITY_APP_SECRET_ARN: 'where the app secret is kept: ARN in Secrets Manager, or of an SSM SecureString parameter',
  SECRETS_REVISION: 'any word; with another one, instances start anew and read the secrets again',
  ALARM_EMAIL: 'address that alarms are mailed to; it gets a mail to confirm',
  EDGE: 'on: CloudFront and a firewall in front, in us-east-1; off: neither (prod on, dev off)',
  DOMAIN_NAME: 'host name of the API, like api.example.org; with CERTIFICATE_ARN and an edge',
  CERTIFICATE_ARN: 'ARN of its certificate, in us-east-1',
  EDGE_RATE_PER_ADDRESS: 'calls in five minutes that one address may make, before the firewall stops it (400)',
  EDGE_TRUSTED_ADDRESSES: 'addresses that this does not count for, like your relayers: CIDR ranges, commas between',
  WEBHOOKS:
    'on: functions on the stream and a queue that deliver webhooks; off: none, and no webhook can be registered (off)',
  REQUESTS_STREAM_ARN: 'ARN of the stream of REQUESTS_TABLE, once that is a restored table',
  BUCKET_NAME: 'name of the bucket: of one that is to be taken over, or of a new one (chosen by AWS)',
  MAX_TABLE_WRITE_UNITS:
    'write units a second that each table and index may take at most; 0: no limit (prod 4000, dev 400)',
  MAX_TABLE_READ_UNITS: 'read units a second, likewise (prod 8000, dev 800)',
  RESERVED_CONCURRENCY:
    'instances at most, kept free for the function; 0: neither (prod 100, or as many as the account has; dev 0)',
  LOG_RETENTION_DAYS: '7, 14, 30, 90, 180 or 365 (prod 90, dev 14)',
  NONCURRENT_VERSION_DAYS: 'days that deleted objects can be brought back (prod 90, dev 7)',
  OLDEST_PENDING_ALARM_SECONDS: 'age of the oldest pending request that raises the alarm (600)',
  CLAIM_OVERDUE_ALARM_SECONDS: 'seconds that a claim may be beyond its lease before the alarm is raised (300)',
  DAILY_BUDGET_USD: 'spending of a day that raises the alarm, by list prices; 0: none (prod 20, dev 5)',
  LATENCY_ALARM_MS: '99th percentile of the latency that raises the alarm (2000)',
} as const;

export type StackSettingName = keyof typeof STACK_SETTINGS;

/** Settings that go to the gateway as they are; it checks them itself. */
export const GATEWAY_SETTINGS = [
  'IDENTITY_PROVIDER',
  'IDENTITY_ISSUER',
  'IDENTITY_APP_ID',
  'IDENTITY_MAX_TOKEN_AGE_SECONDS',
  'STORAGE_SIGNED_URL_TTL_SECONDS',
  'STORAGE_BIND_CONTENT',
  'STORAGE_REQUIRE_SIZE',
  'MAX_OBJECT_BYTES',
  'CLAIM_LEASE_SECONDS',
  'REQUEST_RETENTION_DAYS',
  'PENDING_RETENTION_DAYS',
  'REQUESTS_ONCE',
  'CHAINS',
  'MAX_CLAIM_SECONDS',
  'MAX_OPEN_CLAIMS',
  'INDEX_SHARDS',
  'MAX_BODY_BYTES',
  'MAX_BATCH_SIZE',
  'RATE_LIMIT_WRITES',
  'RATE_LIMIT_WRITE_BYTES',
  'RATE_LIMIT_READ_BYTES',
  'RATE_LIMIT_READS',
  'RATE_LIMIT_SIGN',
  'RATE_LIMIT_CLAIMS',
  'RATE_LIMIT_REPORTS',
  'RATE_LIMIT_AUTH_FAILURES',
  'RATE_LIMIT_ADMIN_FAILURES',
  'WEBHOOKS_ALLOW_PRIVATE',
  'PUBLIC_URL',
  'BASE_PATH',
  'LOG_LEVEL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_TRACES_SAMPLER_ARG',
  'REQUESTS_TABLE',
  'RELAYERS_TABLE',
  'RATELIMIT_TABLE',
  'DELIVERIES_TABLE',
] as const;

export type GatewaySettingName = (typeof GATEWAY_SETTINGS)[number];

/** Settings as text, by name. */
export type GivenSettings = Readonly<Partial<Record<StackSettingName | GatewaySettingName, string>>>;
