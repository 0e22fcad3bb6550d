import { expect, test } from 'vitest';
import { type Environment, parseSettings } from './settings.ts';

const prod: Environment = {
  STAGE: 'prod',
  ADMIN_API_KEY: 'k'.repeat(32),
  IDENTITY_ISSUER: 'https://issuer.example',
  IDENTITY_APP_ID: 'app',
};
const CURSOR_SECRET = 'c'.repeat(32);

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
  ['STORE', { STORE: 'postgres' }],
  ['INDEX_SHARDS', { STORE: 'dynamodb', INDEX_SHARDS: '0' }],
  ['INDEX_SHARDS', { STORE: 'dynamodb', INDEX_SHARDS: '65' }],
  ['REQUEST_RETENTION_DAYS', { STORE: 'dynamodb', REQUEST_RETENTION_DAYS: '-1' }],
  ['REQUEST_RETENTION_DAYS', { REQUEST_RETENTION_DAYS: '30' }],
  ['MAX_BODY_BYTES', { STORE: 'dynamodb', MAX_BODY_BYTES: '524289' }],
  ['CURSOR_SECRET', { ...prod, STORE: 'dynamodb' }],
])('%s is named as a fault: %o', (name, environment) => {
  expect(() => parseSettings(environment)).toThrow(`${name}: `);
});
