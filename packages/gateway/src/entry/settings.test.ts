import type { Environment } from '@prism-gateway/node/settings';
import { describe, expect, test } from 'vitest';
import { parseSettings } from './settings.ts';

/** Names of the settings that an error names, one a line. */
function faultyNames(environment: Environment): string[] {
  try {
    parseSettings(environment);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    return [...message.matchAll(/(?:^Bad setting: |\n {2})([A-Z0-9_]+): /g)].map(([, name = '']) => name);
  }
}

const KEY = 'k'.repeat(32);
const prod: Environment = {
  STAGE: 'prod',
  ADMIN_API_KEY: KEY,
  IDENTITY_ISSUER: 'https://issuer.example',
  IDENTITY_APP_ID: 'app',
};

// Shows SETTING-1.
test('defaults need no environment, and an empty value counts as unset', () => {
  expect(parseSettings({ PORT: '', ADMIN_API_KEY: '', STORAGE_BUCKET: '' })).toEqual(parseSettings({}));
  expect(parseSettings({})).toMatchObject({
    HOST: '127.0.0.1',
    PORT: 8787,
    STAGE: 'dev',
    STORE: 'sqlite',
    DATA_DIR: './data',
    adminKeys: ['change-me-admin-key'],
    CLAIM_LEASE_SECONDS: 900,
    MAX_BODY_BYTES: 262_144,
    MAX_BATCH_SIZE: 100,
    MAX_OBJECT_BYTES: 104_857_600,
    STORAGE_REQUIRE_SIZE: false,
    RATE_LIMIT_WRITES: 600,
    RATE_LIMIT_READS: 3000,
    RATE_LIMIT_SIGN: 600,
    RATE_LIMIT_WRITE_BYTES: 16_777_216,
    RATE_LIMIT_READ_BYTES: 33_554_432,
    RATE_LIMIT_CLAIMS: 6000,
    RATE_LIMIT_REPORTS: 12_000,
    RATE_LIMIT_AUTH_FAILURES: 120,
    RATE_LIMIT_ADMIN_FAILURES: 20,
    STORAGE_SIGNED_URL_TTL_SECONDS: 60,
    STORAGE_BIND_CONTENT: true,
    S3_FORCE_PATH_STYLE: false,
    TRUSTED_PROXY_HOPS: 0,
    LOG_LEVEL: 'info',
    IDENTITY_PROVIDER: 'oidc',
    storageCorsOrigins: ['*'],
    databaseFile: 'data/gateway-dev.db',
  });
});

test('every fault is named at once, those of single settings and those between them, and no value', () => {
  const environment: Environment = {
    STAGE: 'prod',
    PORT: '70000-s3cret',
    LOG_LEVEL: 's3cret',
    STORAGE_BIND_CONTENT: 's3cret',
    PUBLIC_URL: 'ftp://s3cret',
    CURSOR_SECRET: 's3cret',
    ADMIN_API_KEY: 's3cret',
    IDENTITY_ISSUER: 'http://s3cret.example',
  };
  expect(faultyNames(environment).toSorted()).toEqual([
    'ADMIN_API_KEY',
    'CURSOR_SECRET',
    'IDENTITY_APP_ID',
    'IDENTITY_ISSUER',
    'LOG_LEVEL',
    'PORT',
    'PUBLIC_URL',
    'STORAGE_BIND_CONTENT',
  ]);
  expect(() => parseSettings(environment)).toThrow(
    expect.not.objectContaining({ message: expect.stringMatching('s3cret') }),
  );
});

describe('numbers', () => {
  test.each(['-1', '1.5', '1e3', ' 80', '0x50', '65536', 'x', '9'.repeat(16)])('PORT %j is refused', (PORT) => {
    expect(faultyNames({ PORT })).toEqual(['PORT']);
  });

  test.each<[string, number, number]>([
    ['STORAGE_SIGNED_URL_TTL_SECONDS', 30, 300],
    ['TRUSTED_PROXY_HOPS', 0, 16],
    ['MAX_BATCH_SIZE', 1, 10_000],
    ['PORT', 0, 65_535],
  ])('%s is %i to %i', (name, min, max) => {
    const faultsOf = (value: number) => faultyNames({ ALLOW_DEV_IN_PUBLIC: 'true', [name]: String(value) });
    expect([min, max].map(faultsOf)).toEqual([[], []]);
    expect([min - 1, max + 1].map(faultsOf)).toEqual([[name], [name]]);
  });
});

test.each(['IDENTITY_ISSUER', 'PUBLIC_URL'])('%s with a password in it is refused, and not repeated', (name) => {
  const environment = { ALLOW_DEV_IN_PUBLIC: 'true', IDENTITY_APP_ID: 'app', [name]: 'https://user:s3cret@id.example' };
  expect(faultyNames(environment)).toEqual([name]);
  expect(() => parseSettings(environment)).toThrow(
    expect.not.objectContaining({ message: expect.stringMatching('s3cret') }),
  );
});

// Shows SETTING-5.
test('dev does not start where others reach it, unless it is asked to', () => {
  for (const reached of [{ PUBLIC_URL: 'https://gateway.example' }, { TRUSTED_PROXY_HOPS: '1' }]) {
    expect(faultyNames(reached)).toEqual(['STAGE']);
    expect(faultyNames({ ...reached, ALLOW_DEV_IN_PUBLIC: 'true' })).toEqual([]);
    expect(faultyNames({ ...prod, ...reached })).toEqual([]);
  }
});

test.each<[string, string]>([
  ['PUBLIC_URL', 'https://gateway.example/?q=1'],
  ['PUBLIC_URL', 'https://gateway.example/#frag'],
  ['STORAGE_CORS_ORIGINS', 'garbage'],
  ['STORAGE_CORS_ORIGINS', 'https://app.example.org/'],
  ['STORAGE_CORS_ORIGINS', 'https://a.example, HTTPS://B.example'],
])('%s=%s is refused: it would never do what is meant', (name, value) => {
  expect(faultyNames({ ALLOW_DEV_IN_PUBLIC: 'true', [name]: value })).toEqual([name]);
});

test('origins of extensions, and of other ports, are taken', () => {
  const STORAGE_CORS_ORIGINS = 'chrome-extension://abcdef,http://localhost:3000,*';
  expect(faultyNames({ STORAGE_CORS_ORIGINS })).toEqual([]);
});

describe('admin keys', () => {
  test('may be two while one replaces the other', () => {
    expect(parseSettings({ ADMIN_API_KEY: 'new, old' }).adminKeys).toEqual(['new', 'old']);
    expect(parseSettings({ ...prod, ADMIN_API_KEY: `${KEY},${'o'.repeat(32)}` }).adminKeys).toHaveLength(2);
  });

  test.each([['a,b,c'], [','], ['naïve'], ['two words']])('%j is refused', (ADMIN_API_KEY) => {
    expect(faultyNames({ ADMIN_API_KEY })).toEqual(['ADMIN_API_KEY']);
  });

  test.each([['change-me-admin-key'], ['k'.repeat(31)], [`${KEY},short`], [undefined]])(
    'in prod, %j is refused',
    (ADMIN_API_KEY) => {
      expect(faultyNames({ ...prod, ADMIN_API_KEY })).toEqual(['ADMIN_API_KEY']);
    },
  );
});

describe('identity', () => {
  test.each<[string, Environment, string[]]>([
    ['prod wants an issuer', { ...prod, IDENTITY_ISSUER: undefined }, ['IDENTITY_ISSUER']],
    ['prod wants the app', { ...prod, IDENTITY_APP_ID: undefined }, ['IDENTITY_APP_ID']],
    ['prod wants https', { ...prod, IDENTITY_ISSUER: 'http://issuer.example' }, ['IDENTITY_ISSUER']],
    ['prod wants https, in any letters', { ...prod, IDENTITY_ISSUER: 'HTTP://issuer.example' }, ['IDENTITY_ISSUER']],
    [
      'a name that begins like loopback is none',
      { ...prod, IDENTITY_ISSUER: 'http://127.evil.example' },
      ['IDENTITY_ISSUER'],
    ],
    ['prod takes http on this machine', { ...prod, IDENTITY_ISSUER: 'http://127.0.0.1:3000' }, []],
    ['dev takes http', { IDENTITY_ISSUER: 'http://issuer.example', IDENTITY_APP_ID: 'app' }, []],
    ['an issuer wants an app', { IDENTITY_ISSUER: 'https://issuer.example' }, ['IDENTITY_APP_ID']],
    ['privy wants an app, not the development issuer', { IDENTITY_PROVIDER: 'privy' }, ['IDENTITY_APP_ID']],
    ['privy needs no issuer in prod', { ...prod, IDENTITY_PROVIDER: 'privy', IDENTITY_ISSUER: undefined }, []],
  ])('%s', (_, environment, names) => {
    expect(faultyNames(environment)).toEqual(names);
  });
});

test('in prod no page of another origin may use local presigned URLs unless it is named', () => {
  expect(parseSettings(prod).storageCorsOrigins).toEqual([]);
  const STORAGE_CORS_ORIGINS = 'https://a.example, https://b.example';
  expect(parseSettings({ ...prod, STORAGE_CORS_ORIGINS }).storageCorsOrigins).toEqual([
    'https://a.example',
    'https://b.example',
  ]);
});

// Shows STORE-7.
test('the stage names the tables and the file', () => {
  expect(parseSettings({ ...prod, DATA_DIR: '/var/prism', REQUESTS_TABLE: 'mine' })).toMatchObject({
    tables: { requests: 'mine', relayers: 'service-relayers-prod', rateLimits: 'service-ratelimit-prod' },
    databaseFile: '/var/prism/gateway-prod.db',
  });
});

// Shows ADMIN-12, ADMIN-13.
test('reads where transactions are shown and where other programs tell how they are, and refuses what is no such place', () => {
  const explorer = 'https://etherscan.io/tx/{hash}';
  const given = { EXPLORER_URLS: `eip155:1=${explorer}`, STATUS_URLS: 'relayer=http://127.0.0.1:9464/status' };
  const { explorers, statusUrls } = parseSettings(given);
  expect([explorers, statusUrls]).toEqual([{ 'eip155:1': explorer }, { relayer: 'http://127.0.0.1:9464/status' }]);
  for (const EXPLORER_URLS of [
    'eip155:1',
    'eip155:1=https://etherscan.io/',
    'eip155:1=javascript:{hash}',
    `=${explorer}`,
  ])
    expect(() => parseSettings({ EXPLORER_URLS }), EXPLORER_URLS).toThrow('EXPLORER_URLS');
  for (const STATUS_URLS of ['http://127.0.0.1/', 'relayer=file:///etc/passwd', 'relayer=http://me:secret@127.0.0.1/'])
    expect(() => parseSettings({ STATUS_URLS }), STATUS_URLS).toThrow('STATUS_URLS');
});
