import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { S3SettingsError } from './bucketAddress.ts';
import { createS3SignerFromAws, type Environment } from './createS3SignerFromAws.ts';

let directory: string;
/** Files with nothing in them, so that those of whoever runs the tests do not count. */
let empty: Environment;
const nowMs = Date.UTC(2026, 0, 1);
const keys = { AWS_ACCESS_KEY_ID: 'ENVKEY', AWS_SECRET_ACCESS_KEY: 'secret' };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'aws-'));
  const file = (name: string) => join(directory, name);
  empty = {
    AWS_CONFIG_FILE: file('none'),
    AWS_SHARED_CREDENTIALS_FILE: file('none'),
    AWS_EC2_METADATA_DISABLED: 'true',
  };
});
afterAll(() => rm(directory, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

/** Writes the two files under names of their own (the SDK's parser caches by name). */
let files = 0;
async function writeFiles(config: string, credentials: string): Promise<Environment> {
  const [AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE] = [`config-${files}`, `credentials-${files++}`].map((name) =>
    join(directory, name),
  );
  await writeFile(AWS_CONFIG_FILE ?? '', config);
  await writeFile(AWS_SHARED_CREDENTIALS_FILE ?? '', credentials);
  return { ...empty, AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE };
}

/** Signs, and tells what of the settings can be seen in the URL. */
async function show(env: Environment) {
  const signer = await createS3SignerFromAws({ bucket: 'objects', forcePathStyle: true, env });
  const signed = await signer.sign({ operation: 'get', objectPath: 'v1/a/b/c', nowMs, lifetimeSeconds: 60 });
  const { origin, searchParams } = new URL(signed.url);
  const [key, , region] = (searchParams.get('X-Amz-Credential') ?? '').split('/');
  return { origin, key, region, token: searchParams.get('X-Amz-Security-Token') };
}

test('reads region, endpoint and keys from the environment', async () => {
  const env = {
    ...empty,
    ...keys,
    AWS_REGION: 'eu-west-1',
    AWS_SESSION_TOKEN: 'token',
    AWS_DEFAULT_REGION: 'us-west-2',
  };
  const aws = { origin: 'https://s3.eu-west-1.amazonaws.com', key: 'ENVKEY', region: 'eu-west-1', token: 'token' };
  expect(await show(env)).toEqual(aws);
  expect(await show({ ...env, AWS_REGION: '' })).toMatchObject({ region: 'us-west-2' });

  const general = { ...env, AWS_ENDPOINT_URL: 'http://general.example:9000' };
  expect(await show(general)).toMatchObject({ origin: 'http://general.example:9000', region: 'eu-west-1' });
  const special = { ...general, AWS_ENDPOINT_URL_S3: 'http://s3.example' };
  expect(await show(special)).toMatchObject({ origin: 'http://s3.example' });
  expect(await show({ ...special, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' })).toMatchObject(aws);
  expect(await show({ ...env, AWS_USE_DUALSTACK_ENDPOINT: 'true' })).toMatchObject({
    origin: 'https://s3.dualstack.eu-west-1.amazonaws.com',
  });
});

test('keys in the environment may have an end', async () => {
  const env = { ...empty, ...keys, AWS_REGION: 'eu-west-1', AWS_CREDENTIAL_EXPIRATION: '2026-01-01T00:00:10Z' };
  const signer = await createS3SignerFromAws({ bucket: 'objects', forcePathStyle: false, env });
  const signed = await signer.sign({ operation: 'get', objectPath: 'v1/a/b/c', nowMs, lifetimeSeconds: 60 });
  expect(signed.expiresAtMs).toBe(nowMs + 10_000);
});

test('reads region, endpoint and keys from the default profile', async () => {
  const env = await writeFiles(
    '[default]\nregion = sa-east-1\nendpoint_url = http://general.example\n',
    '[default]\naws_access_key_id = FILEKEY\naws_secret_access_key = secret\n',
  );
  const expected = { origin: 'http://general.example', key: 'FILEKEY', region: 'sa-east-1', token: null };
  expect(await show(env)).toEqual(expected);
  expect(await show({ ...env, ...keys, AWS_REGION: 'eu-west-1' })).toMatchObject({
    key: 'ENVKEY',
    region: 'eu-west-1',
  });
});

test('a named profile counts before keys in the environment, its S3 endpoint before the general one', async () => {
  const env = await writeFiles(
    [
      '[profile store]\nregion = eu-north-1\nendpoint_url = http://general.example\nservices = local',
      '[services local]\ns3 =\n  endpoint_url = http://s3.example',
    ].join('\n'),
    '[store]\naws_access_key_id = STOREKEY\naws_secret_access_key = secret\naws_session_token = token\n',
  );
  const expected = { origin: 'http://s3.example', key: 'STOREKEY', region: 'eu-north-1', token: 'token' };
  expect(await show({ ...env, ...keys, AWS_PROFILE: 'store' })).toEqual(expected);
});

test('without any source of credentials, signing fails as a dependency', async () => {
  // The SDK's chain looks at the process's own environment to know whether to ask the machine's metadata service.
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  const env = { ...empty, AWS_REGION: 'eu-west-1', AWS_PROFILE: 'nobody' };
  const signer = await createS3SignerFromAws({ bucket: 'objects', forcePathStyle: false, env });
  const signing = signer.sign({ operation: 'get', objectPath: 'v1/a/b/c', nowMs, lifetimeSeconds: 60 });
  await expect(signing).rejects.toMatchObject({ dependency: 'object store credentials' });
});

test.each<[string, Environment]>([
  ['no region', keys],
  ['a flag that is neither true nor false', { ...keys, AWS_REGION: 'eu-west-1', AWS_USE_FIPS_ENDPOINT: 'yes' }],
  ['an endpoint that is no URL', { ...keys, AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_S3: 'store' }],
])('%s is a fault of the settings', async (_, env) => {
  await expect(show({ ...empty, ...env })).rejects.toThrow(S3SettingsError);
});
