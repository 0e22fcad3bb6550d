import { randomUUID } from 'node:crypto';
import { type TableNames, tableDescriptions } from '@prism-gateway/gateway/deployment';
import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import { expect, it } from 'vitest';
import { createDynamoClient } from '../../../packages/gateway/src/drivers/dynamodb/createDynamoClient.ts';
import type { DynamoStores } from '../../../packages/gateway/src/drivers/dynamodb/createDynamoStores.ts';
import type { StoredRequest } from '../../../packages/gateway/src/ports/requestStore.ts';
import {
  createDynamoRig,
  DYNAMO_DELIVERIES,
  DYNAMO_TABLES,
  describeWithDynamo,
} from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { TABLE_ACCESS } from './tableAccess.ts';

const address = `0x${'Ab'.repeat(20)}`;

function createRecord(paramsJson: string): StoredRequest {
  const now = Date.now();
  return {
    requestId: randomUUID(),
    chainName: 'eip155:31337',
    action: 'WRITE_DATA_FOR',
    signer: address,
    status: 'pending',
    paramsJson,
    createdAt: now,
    updatedAt: now,
  };
}

async function playQueue({ requests }: DynamoStores, { requestId, ...record }: StoredRequest): Promise<void> {
  const now = Date.now();
  const page = { order: 'asc', limit: 10 } as const;
  await requests.create({ requestId, ...record });
  await requests.get(requestId);
  await requests.list({ filter: { signer: address }, ...page });
  await requests.list({ filter: { status: 'pending' }, ...page });
  await requests.list({ filter: { chainName: 'eip155:31337' }, ...page });
  await requests.list({ filter: { signer: address, status: 'pending', chainName: 'eip155:31337' }, ...page });
  await requests.list({ filter: { status: 'pending', chainName: 'eip155:31337' }, ...page, order: 'desc' });
  await requests.stats();
  await requests.claim({ requestId, relayer: address, claimId: randomUUID(), now });
  await requests.claim({ requestId, relayer: address, claimId: randomUUID(), now });
  const outcome = { status: 'success', txHash: `0x${'00'.repeat(32)}` } as const;
  await requests.report({ requestId, relayer: address, reportId: randomUUID(), now, outcome });
  await requests.report({ requestId, relayer: address, reportId: randomUUID(), now, outcome });
}

async function playFurther({ requests, admin }: DynamoStores): Promise<void> {
  const now = Date.now();
  const { requestId, ...record } = createRecord('{"small":2}');
  await requests.create({ requestId, ...record });
  await requests.claim({ requestId, relayer: address, claimId: randomUUID(), now });
  await requests.feed({ chainName: record.chainName, from: 'oldest', limit: 10, maxParamsBytes: 1000, now });
  await requests.releaseAll({ relayer: address, now, limit: 10 });
  await requests.feed({
    chainName: record.chainName,
    from: 'oldest',
    limit: 10,
    maxParamsBytes: 1000,
    leaseExpiredAt: now,
    now,
  });
  await admin.readStats(now);
  await admin.remove(requestId);
}

/** Everything that the ports can be asked for. */
async function playAll(stores: DynamoStores): Promise<void> {
  const { relayers, rateLimits } = stores;
  await stores.prepare();
  await playQueue(stores, createRecord('{"small":1}'));
  await playQueue(stores, createRecord(JSON.stringify({ large: Array.from({ length: 500 }, () => randomUUID()) })));
  await playFurther(stores);
  await relayers.put({ address, label: 'relayer', now: Date.now() });
  await relayers.find(address);
  await relayers.suspend({ address, reason: 'test', now: Date.now() });
  await relayers.resume({ address, now: Date.now() });
  await relayers.list();
  await relayers.remove(address);
  await rateLimits.take({ key: 'reads:ip:192.0.2.1', limit: 1, window: 7, elapsed: 0.5 });
  await rateLimits.take({ key: 'reads:ip:192.0.2.1', limit: 1, window: 7, elapsed: 0.5 });
  await rateLimits.peek('reads:ip:192.0.2.1', 7);
  await stores.checkReady();
}

/** Calls by table or index: `UpdateItem service-requests-test`. */
function callsOf(input: object, operation: string): string[] {
  if ('RequestItems' in input && typeof input.RequestItems === 'object' && input.RequestItems !== null) {
    return Object.keys(input.RequestItems).map((table) => `${operation} ${table}`);
  }
  const { TableName, IndexName } = input as { readonly TableName: string; readonly IndexName?: string };
  return [`${operation} ${TableName}${IndexName === undefined ? '' : `/index/${IndexName}`}`];
}

function grantedCalls(): string[] {
  // The keys of a record of this very type.
  return (Object.keys(DYNAMO_TABLES) as (keyof TableNames)[]).flatMap((kind) => [
    ...TABLE_ACCESS[kind].table.map((operation) => `${operation} ${DYNAMO_TABLES[kind]}`),
    ...tableDescriptions[kind].indexes.flatMap(({ name }) =>
      TABLE_ACCESS[kind].indexes.map((operation) => `${operation} ${DYNAMO_TABLES[kind]}/index/${name}`),
    ),
  ]);
}

describeWithDynamo('access to the tables', () => {
  it('is granted for exactly the calls that the driver makes', async () => {
    await using rig = await createDynamoRig();
    const client = createDynamoClient({ endpoint: rig.endpoint, ...DYNAMO_TEST_ACCESS });
    const calls = new Set<string>();
    client.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          for (const call of callsOf(args.input, commandName.replace(/Command$/, ''))) calls.add(call);
          return await next(args);
        },
      { step: 'initialize' },
    );
    await playAll(rig.open({ client }));
    const granted = [
      ...grantedCalls(),
      // As `deliveriesStatements` grant them to the function: the stats stand there.
      ...['GetItem', 'Query', 'UpdateItem'].map((operation) => `${operation} ${DYNAMO_DELIVERIES}`),
    ];
    expect([...calls].sort()).toEqual(granted.sort());
  });
});
