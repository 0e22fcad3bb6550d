import { createDeliveryQueue } from '../../src/drivers/dynamodb/deliveries/createDeliveryQueue.ts';
import {
  createMoveRecorder,
  type MoveRecorder,
  type StreamRecord,
} from '../../src/drivers/dynamodb/deliveries/createMoveRecorder.ts';
import { createWebhookRegister } from '../../src/drivers/dynamodb/webhookRegister.ts';
import { createWebhookStore } from '../../src/drivers/dynamodb/webhookStore.ts';
import type { AdminStore } from '../../src/ports/adminStore.ts';
import { LATER, type Outbox } from '../contracts/deliveryQueueContract.ts';
import { DYNAMO_DELIVERIES, DYNAMO_TABLES, type DynamoRig } from './dynamoStores.ts';

/** Who reads the stream of a table, record by record. */
interface StreamReader {
  /** What has come since the last look. */
  read(): Promise<readonly StreamRecord[]>;
}

/** A signature as the engines look for it; they check none. */
const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00';

interface Shards {
  readonly StreamDescription: { readonly Shards: readonly { readonly ShardId: string }[] };
}

/** Reads the stream of an engine's table from its beginning on, as Lambda reads one. */
function createStreamReader(endpoint: string, TableName: string): StreamReader {
  /** The next place of each shard. */
  const places = new Map<string, string | undefined>();

  // Of each call the caller knows what it answers.
  async function ask<T>(call: string, body: object): Promise<T> {
    const headers = {
      'x-amz-target': `DynamoDBStreams_20120810.${call}`,
      'x-amz-date': '20260101T000000Z',
      'content-type': 'application/x-amz-json-1.0',
      authorization: AUTHORIZATION,
    };
    const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${call}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async function findShards(): Promise<void> {
    const { Streams } = await ask<{ Streams: { StreamArn: string }[] }>('ListStreams', { TableName });
    for (const { StreamArn } of Streams) {
      const { StreamDescription } = await ask<Shards>('DescribeStream', { StreamArn });
      for (const { ShardId } of StreamDescription.Shards) {
        if (places.has(ShardId)) continue;
        const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' };
        places.set(ShardId, (await ask<{ ShardIterator: string }>('GetShardIterator', from)).ShardIterator);
      }
    }
  }

  return {
    async read() {
      await findShards();
      const records: StreamRecord[] = [];
      for (const [shard, ShardIterator] of places) {
        if (ShardIterator === undefined) continue;
        const answer = await ask<{ Records: StreamRecord[]; NextShardIterator?: string }>('GetRecords', {
          ShardIterator,
        });
        records.push(...answer.Records);
        places.set(shard, answer.NextShardIterator);
      }
      return records;
    },
  };
}

/** The outbox of an engine's tables, filled from the engine's own stream. */
export interface DynamoOutbox extends Outbox {
  readonly stream: StreamReader;
  readonly recorder: MoveRecorder;
  /** Ids of the webhooks that somebody was woken up for. */
  readonly woken: string[];
  readonly admin: AdminStore;
}

const nothing = () => undefined;

/** Opens it. */
export function createDynamoOutbox(rig: DynamoRig, options: { readonly maxWaiting?: number } = {}): DynamoOutbox {
  const stores = rig.open({ client: rig.openClient() });
  const stream = createStreamReader(rig.endpoint, DYNAMO_TABLES.requests);
  const woken: string[] = [];
  const openParts = () => {
    const client = rig.openClient();
    const webhooks = createWebhookRegister(client, DYNAMO_TABLES.requests);
    return { client, webhooks, deliveries: { client, name: DYNAMO_DELIVERIES } };
  };
  const openQueue = () => createDeliveryQueue(openParts());
  const { client, ...parts } = openParts();
  const recorder = createMoveRecorder({
    ...parts,
    ...options,
    requests: { client, name: DYNAMO_TABLES.requests },
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    now: () => LATER,
    wake: async (webhookIds) => void woken.push(...webhookIds),
  });
  return {
    requests: stores.requests,
    admin: stores.admin,
    webhooks: createWebhookStore(client, { requests: DYNAMO_TABLES.requests, deliveries: DYNAMO_DELIVERIES }),
    deliveries: openQueue(),
    openPeer: async () => openQueue(),
    flow: async () => recorder.record(await stream.read()),
    ...{ stream, recorder, woken },
  };
}
