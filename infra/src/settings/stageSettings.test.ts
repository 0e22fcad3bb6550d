import { describe, expect, it } from 'vitest';
import { EXAMPLE_SETTINGS } from '../rig/exampleSettings.ts';
import type { GivenSettings } from './knownSettings.ts';
import { parseStageSettings } from './stageSettings.ts';
import { StageSettingsError } from './stageSettingsError.ts';

const { dev, prod } = EXAMPLE_SETTINGS;

function faultsOf(given: GivenSettings): readonly string[] {
  try {
    parseStageSettings(given);
  } catch (error) {
    if (error instanceof StageSettingsError) return error.faults;
    throw error;
  }
  return [];
}

describe('settings of a stage', () => {
  it('need nothing but an identity provider in dev', () => {
    expect(parseStageSettings(dev)).toEqual({
      stage: 'dev',
      region: undefined,
      bucketOrigins: [
        'http://localhost:3000',
        'http://localhost:5173',
        'http://127.0.0.1:3000',
        'http://127.0.0.1:5173',
      ],
      identityAppSecretArn: undefined,
      secretsRevision: undefined,
      alarmEmail: undefined,
      domain: undefined,
      edge: undefined,
      bucketName: undefined,
      hasWebhooks: true,
      requestsStreamArn: undefined,
      tableCeiling: { writeUnits: 400, readUnits: 800 },
      reservedConcurrency: 0,
      isConcurrencyGiven: false,
      logRetentionDays: 14,
      noncurrentVersionDays: 7,
      alarms: { oldestPendingSeconds: 600, claimOverdueSeconds: 300, latencyMs: 2000, dailyBudgetUsd: 5 },
      tables: {
        requests: 'service-requests-dev',
        relayers: 'service-relayers-dev',
        rateLimits: 'service-ratelimit-dev',
      },
      gateway: { IDENTITY_ISSUER: 'https://id.example.org', IDENTITY_APP_ID: 'prism-dev' },
    });
  });

  it('take several production origins, and no local ones where none are wanted', () => {
    const given = { ...prod, PRODUCTION_ORIGIN: 'https://a.example.org, https://b.example.org', LOCAL_ORIGINS: 'none' };
    expect(parseStageSettings(given).bucketOrigins).toEqual(['https://a.example.org', 'https://b.example.org']);
  });

  it('count an empty text as absent', () => {
    expect(parseStageSettings({ ...dev, ALARM_EMAIL: '', RESERVED_CONCURRENCY: '', REGION: '' })).toEqual(
      parseStageSettings(dev),
    );
  });

  it('name every fault at once, the gateway’s own among them', () => {
    expect(faultsOf({ STAGE: 'prod', RESERVED_CONCURRENCY: 'many', RATE_LIMIT_WRITES: 'few' })).toEqual([
      'PRODUCTION_ORIGIN: expected in prod, the origin of your web app, like https://app.example.org',
      'RESERVED_CONCURRENCY: expected a whole number from 0 to 10000',
      expect.stringMatching(/^RATE_LIMIT_WRITES: expected a whole number/),
      expect.stringMatching(/^IDENTITY_APP_ID: required/),
      expect.stringMatching(/^IDENTITY_ISSUER: required/),
    ]);
  });

  it.each<[GivenSettings, string]>([
    [{ STAGE: 'staging' }, 'STAGE: expected one of dev, prod'],
    [{ REGION: 'Frankfurt' }, 'REGION: expected an AWS region, like eu-central-1'],
    [{ LOG_RETENTION_DAYS: '8' }, 'LOG_RETENTION_DAYS: expected one of 7, 14, 30, 90, 180, 365'],
    [{ SECRETS_REVISION: 'two words' }, 'SECRETS_REVISION: expected 1 to 64 of letters, digits and ". _ : -"'],
    [{ ALARM_EMAIL: 'nobody' }, 'ALARM_EMAIL: expected a mail address'],
    [{ RESERVED_CONCURRENCY: '-1' }, 'RESERVED_CONCURRENCY: expected a whole number from 0 to 10000'],
    [{ CERTIFICATE_ARN: '' }, 'CERTIFICATE_ARN: expected one, with DOMAIN_NAME'],
    [{ DOMAIN_NAME: '' }, 'DOMAIN_NAME: expected one, with CERTIFICATE_ARN'],
    [
      { DOMAIN_NAME: 'https://api.example.org' },
      'DOMAIN_NAME: expected a host name in lower case, like api.example.org',
    ],
    [{ CERTIFICATE_ARN: 'arn:aws:iam::1:x' }, 'CERTIFICATE_ARN: expected the ARN of a certificate of ACM'],
    [
      { IDENTITY_APP_SECRET_ARN: 'hunter2' },
      'IDENTITY_APP_SECRET_ARN: expected the ARN of a secret in Secrets Manager or of a parameter in SSM',
    ],
    [
      { CERTIFICATE_ARN: 'arn:aws:acm:eu-central-1:123456789012:certificate/12345678-90ab-cdef-1234-567890abcdef' },
      'CERTIFICATE_ARN: expected a certificate of us-east-1',
    ],
    [{ EDGE_RATE_PER_ADDRESS: '9' }, 'EDGE_RATE_PER_ADDRESS: expected a whole number from 10 to 2000000'],
    [
      { EDGE_TRUSTED_ADDRESSES: '192.0.2.1/33' },
      'EDGE_TRUSTED_ADDRESSES: expected CIDR ranges with commas between, like 192.0.2.10/32,2001:db8::/64',
    ],
    [
      { BUCKET_NAME: 'Objects' },
      "BUCKET_NAME: expected a bucket's name: 3 to 63 of lower-case letters, digits, dots and hyphens",
    ],
    [{ IDENTITY_ISSUER: 'http://id.example.org' }, 'IDENTITY_ISSUER: expected https in prod'],
  ])('refuse %j', (given, fault) => {
    const faults = faultsOf({ ...prod, ...given });
    // With a stage that is none, the gateway has its say, too.
    expect(faults[0]).toBe(fault);
    if (given.STAGE === undefined) expect(faults).toHaveLength(1);
  });

  it('have no edge where none is wanted, and then nothing that belongs to it', () => {
    expect(parseStageSettings(prod).edge).toMatchObject({ ratePerAddress: 400 });
    expect(faultsOf({ ...prod, EDGE: 'off' })).toEqual([
      'DOMAIN_NAME: expected none, with EDGE=off',
      'CERTIFICATE_ARN: expected none, with EDGE=off',
      'EDGE_TRUSTED_ADDRESSES: expected none, with EDGE=off',
    ]);
  });

  it.each([
    'https://app.example.org/',
    'https://app.example.org/x',
    'http://app.example.org',
    'app.example.org',
    '*',
    'null',
  ])('refuse %s as an origin', (origin) => {
    expect(faultsOf({ ...prod, PRODUCTION_ORIGIN: origin })).toEqual([
      expect.stringMatching(/^PRODUCTION_ORIGIN: expected https origins/),
    ]);
    expect(faultsOf({ ...prod, LOCAL_ORIGINS: origin })).toEqual([
      expect.stringMatching(/^LOCAL_ORIGINS: expected https origins/),
    ]);
  });

  it('never repeat a value', () => {
    expect(faultsOf({ ...prod, IDENTITY_APP_SECRET_ARN: 'hunter2', ALARM_EMAIL: 'hunter2' }).join()).not.toContain(
      'hunter2',
    );
  });
});
