import type { GivenSettings } from '../settings/knownSettings.ts';

/** Stages that are checked. */
export const STAGES = ['dev', 'prod'] as const;

export type Stage = (typeof STAGES)[number];

/** Variants synthesised for tests: each stage, and a dev stage with nearly every choice made another way. */
export type Variant = Stage | 'other';

/** Settings of each variant. */
export const EXAMPLE_SETTINGS: Readonly<Record<Variant, GivenSettings>> = {
  dev: {
    STAGE: 'dev',
    IDENTITY_ISSUER: 'https://id.example.org',
    IDENTITY_APP_ID: 'prism-dev',
    WEBHOOKS: 'on',
  },
  prod: {
    STAGE: 'prod',
    REGION: 'eu-central-1',
    PRODUCTION_ORIGIN: 'https://app.example.org',
    IDENTITY_ISSUER: 'https://id.example.org',
    IDENTITY_APP_ID: 'prism',
    WEBHOOKS: 'on',
    IDENTITY_APP_SECRET_ARN: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:prism-app-secret-AbCdEf',
    ALARM_EMAIL: 'oncall@example.org',
    CLAIM_LEASE_SECONDS: '600',
    STORAGE_SIGNED_URL_TTL_SECONDS: '120',
    DOMAIN_NAME: 'api.example.org',
    CERTIFICATE_ARN: 'arn:aws:acm:us-east-1:123456789012:certificate/12345678-90ab-cdef-1234-567890abcdef',
    EDGE_TRUSTED_ADDRESSES: '192.0.2.10/32,2001:db8::/64',
  },
  other: {
    STAGE: 'dev',
    IDENTITY_PROVIDER: 'privy',
    IDENTITY_APP_ID: 'prism-privy',
    IDENTITY_APP_SECRET_ARN: 'arn:aws:ssm:eu-central-1:123456789012:parameter/prism/app-secret',
    SECRETS_REVISION: '2',
    LOCAL_ORIGINS: 'none',
    CHAINS: 'eip155:1,eip155:10',
    BUCKET_NAME: 'prism-objects-of-before',
    MAX_TABLE_WRITE_UNITS: '0',
    MAX_TABLE_READ_UNITS: '50',
    REQUESTS_TABLE: 'service-requests-dev-restored',
    REQUESTS_STREAM_ARN:
      'arn:aws:dynamodb:eu-central-1:123456789012:table/service-requests-dev-restored/stream/2026-01-31T00:00:00.000',
    DELIVERIES_TABLE: 'service-deliveries-dev-restored',
    // Few, so that tests can play them.
    RESERVED_CONCURRENCY: '2',
    LOG_RETENTION_DAYS: '30',
    OLDEST_PENDING_ALARM_SECONDS: '120',
    LATENCY_ALARM_MS: '500',
  },
};
