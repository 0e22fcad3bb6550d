import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { DYNAMO_TEST_ACCESS, listenOnLoopback } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createPatientClient } from '../../../test/rigs/createPatientClient.ts';
import { readItems } from './items.ts';

interface Keys {
  readonly Keys: readonly { readonly requestId: { readonly S: string } }[];
  readonly ConsistentRead: boolean;
}

/**
 * Starts a table that leaves keys for later, as DynamoDB does when it is throttled or an answer grows beyond 16 MB.
 *
 * @param answered - how many keys the n-th call answers
 */
async function startReluctantTable(answered: (call: number) => number) {
  const calls: number[] = [];
  const server = createServer(async (incoming, response) => {
    // The calls of BatchGetItem on the one table.
    const { RequestItems } = (await json(incoming)) as { RequestItems: { table: Keys } };
    const { Keys, ConsistentRead } = RequestItems.table;
    calls.push(Keys.length);
    const count = answered(calls.length);
    const left = Keys.slice(count);
    const body = {
      Responses: { table: Keys.slice(0, count).map(({ requestId }) => ({ requestId })) },
      UnprocessedKeys: left.length === 0 ? {} : { table: { Keys: left, ConsistentRead } },
    };
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
  });
  const { url, close } = await listenOnLoopback(server);
  const client = createPatientClient({ endpoint: url, ...DYNAMO_TEST_ACCESS });
  return {
    calls,
    table: { client, name: 'table' },
    async [Symbol.asyncDispose]() {
      client.destroy();
      await close();
    },
  };
}

const keysOf = (count: number) => Array.from({ length: count }, (_, i) => `key ${i}`);

test('keys that an answer leaves for later are asked again', async () => {
  await using reluctant = await startReluctantTable((call) => (call % 2 === 0 ? 0 : 3));
  const items = await readItems(reluctant.table, keysOf(8), { consistent: true });
  expect([...items.keys()].sort()).toEqual(keysOf(8));
  expect(reluctant.calls).toEqual([8, 5, 5, 2, 2]);
});

test('more keys than one call takes are asked in several', async () => {
  await using willing = await startReluctantTable(() => 100);
  expect((await readItems(willing.table, keysOf(250), { consistent: true })).size).toBe(250);
  expect(willing.calls.sort()).toEqual([100, 100, 50]);
});

test('a table that answers nothing, again and again, is down', async () => {
  await using stubborn = await startReluctantTable(() => 0);
  const reading = readItems(stubborn.table, keysOf(2), { consistent: true });
  await expect(reading).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  expect(stubborn.calls).toEqual([2, 2, 2, 2]);
});

test('no keys are no call', async () => {
  await using willing = await startReluctantTable(() => 100);
  expect((await readItems(willing.table, [], { consistent: false })).size).toBe(0);
  expect(willing.calls).toEqual([]);
});
