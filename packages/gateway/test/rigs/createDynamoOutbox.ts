import { createStreamReader, type StreamReader } from '@prism-gateway/testing';
import { type CapacityMeter, meterCapacity } from '../../src/drivers/dynamodb/createDynamoClient.ts';
import { createDeliveryQueue } from '../../src/drivers/dynamodb/deliver.ts';
import { createMoveRecorder, type MoveRecorder } from '../../src/drivers/dynamodb/recordDeliveries.ts';
import { createStatsRecorder, type StatsRecorder, type StreamRecord } from '../../src/drivers/dynamodb/recordStats.ts';
import { createWebhookRegister, type RegisteredWebhook } from '../../src/drivers/dynamodb/webhookRegister.ts';
import { createWebhookStore } from '../../src/drivers/dynamodb/webhookStore.ts';
import type { AdminStore } from '../../src/ports/adminStore.ts';
import type { DeliveryQueue } from '../../src/ports/webhookStore.ts';
import { LATER, type Outbox } from '../contracts/deliveryQueueContract.ts';
import { DYNAMO_DELIVERIES, DYNAMO_TABLES, type DynamoRig } from './dynamoStores.ts';

/** The outbox of an engine's tables, filled from the engine's own stream. */
export interface DynamoOutbox extends Outbox {
  readonly stream: StreamReader<StreamRecord>;
  readonly recorder: MoveRecorder;
  readonly stats: StatsRecorder;
  /** Of the recorders' own calls. */
  readonly recorderMeter: CapacityMeter;
  /** Ids of the webhooks that somebody was woken up for. */
  readonly woken: string[];
  readonly admin: AdminStore;
}

const nothing = () => undefined;

/** Opens it. */
export function createDynamoOutbox(rig: DynamoRig, options: { readonly maxWaiting?: number } = {}): DynamoOutbox {
  const stores = rig.open({ client: rig.openClient() });
  const stream = createStreamReader<StreamRecord>(rig.endpoint, DYNAMO_TABLES.requests);
  const woken: string[] = [];
  const openParts = () => {
    const client = rig.openClient();
    const requests = { client, name: DYNAMO_TABLES.requests };
    const webhooks = createWebhookRegister(requests);
    return { client, webhooks, requests, deliveries: { client, name: DYNAMO_DELIVERIES } };
  };
  /** The queue of all webhooks; the functions look at one at a time. */
  function openQueue(): DeliveryQueue {
    const parts = openParts();
    const queue = createDeliveryQueue(parts);
    const ofAll = async <T>(look: (webhook: RegisteredWebhook) => Promise<T>) =>
      await Promise.all((await parts.webhooks.list()).map(look));
    return {
      finalize: queue.finalize,
      take: async (order) => (await ofAll((webhook) => queue.takeOf(webhook, order))).flat(),
      async nextDueAt() {
        const known = (await ofAll(queue.dueAtOf)).filter((at) => at !== undefined);
        return known.length === 0 ? undefined : Math.min(...known);
      },
      countDropped: async () =>
        (await createWebhookStore(parts).list()).reduce((sum, { health }) => sum + health.dropped, 0),
      onCommitted: () => undefined,
    };
  }
  const { client, requests, ...parts } = openParts();
  const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const stats = createStatsRecorder({ requests, deliveries: parts.deliveries, logger });
  const recorderMeter = meterCapacity(client);
  const recorder = createMoveRecorder({
    ...parts,
    ...options,
    logger,
    now: () => LATER,
    wake: async (webhookIds) => void woken.push(...webhookIds),
  });
  return {
    requests: stores.requests,
    admin: stores.admin,
    webhooks: createWebhookStore({ requests, deliveries: parts.deliveries }),
    deliveries: openQueue(),
    openPeer: async () => openQueue(),
    flow: async () => recorder.record(await stream.read()),
    ...{ stream, recorder, stats, recorderMeter, woken },
  };
}
