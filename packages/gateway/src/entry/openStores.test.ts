import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type DynamoServer, startDynamo, startGateway } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithDynamo } from '../../test/rigs/dynamoStores.ts';

describeWithDynamo('npm start with STORE=dynamodb', () => {
  let engine: DynamoServer;
  beforeAll(async () => {
    engine = await startDynamo();
  });
  afterAll(() => engine.close());

  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  const env = () => ({ STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint });

  test('a local engine gets its tables, and keeps what one process stored for the next; one that is gone is 503, and nothing hangs', async () => {
    const own = await startDynamo();
    const env = { STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: own.endpoint };
    const first = await startGateway({ env });
    const added = await fetch(`${first.url}/admin/relayers`, {
      method: 'POST',
      headers: { 'x-admin-key': first.adminKey, 'content-type': 'application/json' },
      body: JSON.stringify({ address }),
    });
    expect([added.status, (await fetch(`${first.url}/ready`)).status]).toEqual([201, 200]);
    expect(await first.stop()).toBe(0);

    const second = await startGateway({ env: { ...env, INDEX_SHARDS: '8' } });
    const listed = await fetch(`${second.url}/admin/relayers`, { headers: { 'x-admin-key': second.adminKey } });
    expect(await listed.json()).toMatchObject({ count: 1, relayers: [{ address }] });
    await own.close();
    const response = await fetch(`${second.url}/requests?signer=${address}`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    await second.stop();
  });

  // Shows DYNAMO-10.
  test('in prod a start without tables names them and stops; create-tables makes them', async () => {
    await using own = await startDynamo();
    const env = {
      ...{ STORE: 'dynamodb', STAGE: 'prod', AWS_ENDPOINT_URL_DYNAMODB: own.endpoint, AWS_REGION: 'us-east-1' },
      ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', METRICS_PORT: '0' },
      ...{ ADMIN_API_KEY: 'k'.repeat(32), CURSOR_SECRET: 'c'.repeat(32) },
      ...{ IDENTITY_ISSUER: 'https://issuer.example', IDENTITY_APP_ID: 'app' },
    };
    await expect(startGateway({ env })).rejects.toThrow(
      /no table service-requests-prod, service-relayers-prod, .*npx prism create-tables makes them/,
    );
    const script = fileURLToPath(new URL('./createTables.ts', import.meta.url));
    const made = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
    expect([made.status, made.stdout]).toEqual([0, expect.stringContaining('service-deliveries-prod: there')]);
    const gateway = await startGateway({ env });
    expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
    await gateway.stop();
  });

  test.each([
    [{ AWS_ENDPOINT_URL_DYNAMODB: 'garbage' }, /AWS_ENDPOINT_URL_DYNAMODB: expected an http or https URL/],
    [{ AWS_ENDPOINT_URL_DYNAMODB: '' }, /No AWS region is known; set AWS_REGION/],
  ])('%j: the start ends and says what is wrong', async (wrong, sentence) => {
    const none = {
      AWS_REGION: '',
      AWS_DEFAULT_REGION: '',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    await expect(startGateway({ env: { ...env(), ...none, ...wrong } })).rejects.toThrow(sentence);
  });

  test('without the engine the start ends and says what to do', async () => {
    const own = await startDynamo();
    await own.close();
    const starting = startGateway({ env: { ...env(), AWS_ENDPOINT_URL_DYNAMODB: own.endpoint } });
    await expect(starting).rejects.toThrow(`DynamoDB at ${own.endpoint} cannot be used: start it, or set STORE=sqlite`);
  });
});
