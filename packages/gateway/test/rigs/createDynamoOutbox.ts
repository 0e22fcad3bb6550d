import { createDeliveryQueue } from '../../src/drivers/dynamodb/deliveries/createDeliveryQueue.ts';
import { createMoveRecorder, type MoveRecorder } from '../../src/drivers/dynamodb/deliveries/createMoveRecorder.ts';
import { createWebhookRegister } from '../../src/drivers/dynamodb/webhookRegister.ts';
import { createWebhookStore } from '../../src/drivers/dynamodb/webhookStore.ts';
import type { AdminStore } from '../../src/ports/adminStore.ts';
import { LATER, type Outbox } from '../contracts/deliveryQueueContract.ts';
import { DYNAMO_DELIVERIES, DYNAMO_TABLES, type DynamoRig } from './dynamoStores.ts';
import { createStreamReader, type StreamReader } from './readStream.ts';

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
