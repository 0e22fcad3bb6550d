import { SettingsError } from '@prism-gateway/node/settings';
import { expect, it } from 'vitest';
import { parseFunctionSettings } from './functionSettings.ts';

const good = {
  STAGE: 'prod',
  ADMIN_API_KEY: 'a-key-of-as-many-characters-as-it-takes',
  STORAGE_BUCKET: 'prism-objects',
  CURSOR_SECRET: 'not-a-secret-but-as-long-as-one-must-be',
  IDENTITY_ISSUER: 'https://id.example.org',
  IDENTITY_APP_ID: 'prism',
};

function faultsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    parseFunctionSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
}

it('takes the tables of the stage, DynamoDB, and no base path', () => {
  const settings = parseFunctionSettings(good);
  expect(settings).toMatchObject({ STORE: 'dynamodb', basePath: '', tables: { requests: 'service-requests-prod' } });
});

it.each(['/v1', '/a/b.c'])('takes the base path %s', (basePath) => {
  expect(parseFunctionSettings({ ...good, BASE_PATH: basePath })).toMatchObject({ basePath });
});

it.each(['v1', '/v1/', '/', '//', '/a b', '/$default'])('refuses the base path %s', (basePath) => {
  expect(faultsOf({ ...good, BASE_PATH: basePath })).toEqual([expect.stringMatching(/^BASE_PATH: /)]);
});

it('names everything that is missing, each once, and no value', () => {
  const faults = faultsOf({ STAGE: 'prod', ADMIN_API_KEY: 'short', STORE: 'sqlite', LOG_LEVEL: 'loud' });
  const names = faults.map((fault) => fault.split(':')[0]);
  const expected = [
    'ADMIN_API_KEY',
    'CURSOR_SECRET',
    'IDENTITY_APP_ID',
    'IDENTITY_ISSUER',
    'LOG_LEVEL',
    'STORAGE_BUCKET',
    'STORE',
  ];
  expect(names.sort()).toEqual(expected);
  expect(faults.join()).not.toMatch(/short|loud/);
});

it('needs no issuer with Privy, and none of the development defaults', () => {
  const { IDENTITY_ISSUER: _, ...others } = good;
  expect(faultsOf({ ...others, IDENTITY_PROVIDER: 'privy' })).toEqual([]);
  expect(faultsOf({ ...others, STAGE: 'dev' })).toEqual([
    expect.stringMatching(/^IDENTITY_ISSUER: required on Lambda/),
  ]);
});

it('has no default for the admin key in dev either', () => {
  const { ADMIN_API_KEY: _, ...others } = good;
  for (const given of [others, { ...others, ADMIN_API_KEY: '' }]) {
    expect(faultsOf({ ...given, STAGE: 'dev' })).toEqual([expect.stringMatching(/^ADMIN_API_KEY: required on Lambda/)]);
  }
});

it('needs a secret for cursors in dev too: instances do not share a disk', () => {
  const { CURSOR_SECRET: _, ...others } = good;
  expect(faultsOf({ ...others, STAGE: 'dev' })).toEqual([expect.stringMatching(/^CURSOR_SECRET: required on Lambda/)]);
});

it('takes one origin secret or two, and none that can be guessed', () => {
  const [one, two] = ['a'.repeat(32), 'b'.repeat(48)];
  expect(parseFunctionSettings(good).originSecrets).toEqual([]);
  expect(parseFunctionSettings({ ...good, ORIGIN_SECRET: `${one}, ${two}` }).originSecrets).toEqual([one, two]);
  expect(faultsOf({ ...good, ORIGIN_SECRET: `${two},short` })).toEqual([expect.stringMatching(/^ORIGIN_SECRET: /)]);
});
