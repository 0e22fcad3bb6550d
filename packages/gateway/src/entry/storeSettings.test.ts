import type { Environment } from '@prism-gateway/node/settings';
import { expect, test } from 'vitest';
import { parseSettings } from './settings.ts';

const prod: Environment = {
  STAGE: 'prod',
  ADMIN_API_KEY: 'k'.repeat(32),
  IDENTITY_ISSUER: 'https://issuer.example',
  IDENTITY_APP_ID: 'app',
};
const CURSOR_SECRET = 'c'.repeat(32);

test('what the queue takes and keeps has defaults that need no thought', () => {
  expect(parseSettings({})).toMatchObject({
    REQUESTS_ONCE: 'asked',
    MAX_OPEN_CLAIMS: 1000,
    PUBLIC_WAIT_SECONDS: 25,
    PENDING_RETENTION_DAYS: 30,
    chains: [],
  });
  expect(parseSettings({ CHAINS: 'eip155:1, eip155:8453' }).chains).toEqual(['eip155:1', 'eip155:8453']);
});

// Shows DYNAMO-1, DYNAMO-2, DYNAMO-3.
test('DynamoDB’s settings have defaults that need no thought', () => {
  expect(parseSettings({ STORE: 'dynamodb' })).toMatchObject({
    STORE: 'dynamodb',
    INDEX_SHARDS: 4,
    REQUEST_RETENTION_DAYS: 0,
    tables: { requests: 'service-requests-dev', relayers: 'service-relayers-dev', rateLimits: 'service-ratelimit-dev' },
  });
  expect(parseSettings({ ...prod, STORE: 'dynamodb', CURSOR_SECRET }).STAGE).toBe('prod');
});

test.each<[string, Environment]>([
  ['STORE', { STORE: 'mysql' }],
  ['INDEX_SHARDS', { STORE: 'dynamodb', INDEX_SHARDS: '0' }],
  ['INDEX_SHARDS', { STORE: 'dynamodb', INDEX_SHARDS: '25' }],
  ['REQUEST_RETENTION_DAYS', { STORE: 'dynamodb', REQUEST_RETENTION_DAYS: '-1' }],
  ['PENDING_RETENTION_DAYS', { PENDING_RETENTION_DAYS: '1.5' }],
  ['REQUESTS_ONCE', { REQUESTS_ONCE: 'true' }],
  ['MAX_OPEN_CLAIMS', { MAX_OPEN_CLAIMS: '-1' }],
  ['PUBLIC_WAIT_SECONDS', { PUBLIC_WAIT_SECONDS: '26' }],
  ['CHAINS', { CHAINS: 'eip155:1, eip155 8453' }],
  ['MAX_BODY_BYTES', { STORE: 'dynamodb', MAX_BODY_BYTES: '524289' }],
  ['CURSOR_SECRET', { ...prod, STORE: 'dynamodb' }],
])('%s is named as a fault: %o', (name, environment) => {
  expect(() => parseSettings(environment)).toThrow(`${name}: `);
});
