import { readFileSync } from 'node:fs';
import { DYNAMO_TEST_ACCESS, findFreePort, startDynamo, startGateway } from '@prism-gateway/testing';
import { expect, it } from 'vitest';
import { createEmptyTables } from '../../../packages/gateway/test/rigs/createEmptyTables.ts';
import { describeWithDynamo } from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { TABLE_ACCESS } from '../stack/tableAccess.ts';

interface Named {
  readonly name: string;
  readonly value: string;
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../deploy/ecs/${name}`, import.meta.url), 'utf8'));
const [container] = read('task-definition.json').containerDefinitions;
const given = Object.fromEntries(container.environment.map(({ name, value }: Named) => [name, value]));

it('lets the task do with the tables what the function may', () => {
  const actions = read('task-policy.json').Statement.flatMap(
    ({ Action }: { readonly Action: string | string[] }) => Action,
  );
  for (const { table, indexes } of Object.values(TABLE_ACCESS))
    for (const name of [...table, ...indexes]) expect(actions).toContain(`dynamodb:${name}`);
});

describeWithDynamo('the container of deploy/ecs', () => {
  it('starts with its own environment, and its tables answer', async () => {
    await using stack = new AsyncDisposableStack();
    const engine = await startDynamo();
    stack.defer(() => engine.close());
    const [requests, relayers, rateLimits] = ['requests', 'relayers', 'ratelimit'].map(
      (store) => `service-${store}-prod`,
    );
    await createEmptyTables(
      { endpoint: engine.endpoint },
      { requests: requests ?? '', relayers: relayers ?? '', rateLimits: rateLimits ?? '' },
    );
    const { accessKeyId, secretAccessKey } = DYNAMO_TEST_ACCESS.credentials;
    const secrets = Object.fromEntries(
      container.secrets.map(({ name }: Named) => [name, name.toLowerCase().padEnd(40, 'x')]),
    );
    const port = await findFreePort();
    const gateway = await startGateway({
      env: {
        ...{ ...given, ...secrets, AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint },
        ...{
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: secretAccessKey,
          PORT: String(port),
          METRICS_PORT: '0',
        },
      },
    });
    stack.defer(async () => void (await gateway.stop()));
    expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200);
    const document = (await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json()) as {
      readonly servers: unknown;
    };
    const { servers } = document;
    expect(servers).toEqual([expect.objectContaining({ url: given.PUBLIC_URL })]);
  });
});
