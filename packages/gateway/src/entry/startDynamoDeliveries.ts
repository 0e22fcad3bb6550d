import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Environment } from '@prism-gateway/runtime/settings';
import { createDeliveryQueue } from '../drivers/dynamodb/deliveries/createDeliveryQueue.ts';
import { createMoveRecorder } from '../drivers/dynamodb/deliveries/createMoveRecorder.ts';
import { createStreamApi, StreamError } from '../drivers/dynamodb/stream/createStreamApi.ts';
import { startStreamFollower } from '../drivers/dynamodb/stream/startStreamFollower.ts';
import { createWebhookRegister } from '../drivers/dynamodb/webhookRegister.ts';
import { DependencyUnavailableError } from '../ports/errors.ts';
import type { Logger } from '../ports/logger.ts';
import type { RequestChanges } from '../ports/requestChanges.ts';
import type { DeliveryQueue } from '../ports/webhookStore.ts';
import { createStreamCall } from './createStreamCall.ts';
import type { Settings } from './settings.ts';

interface DeliveriesContext {
  readonly client: DynamoDBClient;
  readonly settings: Settings;
  readonly environment: Environment;
  /** Tells what this process moves. */
  readonly changes: RequestChanges;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What delivers on DynamoDB without functions of AWS. */
export interface DynamoDeliveries {
  readonly deliveries: DeliveryQueue;
  /** Whether the table has a stream that may be read. @throws DependencyUnavailableError where it does not answer */
  canDeliver(): Promise<boolean>;
  close(): Promise<void>;
}

/** Follows the stream of the requests' table, and hands out what it tells. */
export function startDynamoDeliveries(context: DeliveriesContext): DynamoDeliveries {
  const { client, settings, environment, changes, logger, now } = context;
  const requests = { client, name: settings.tables.requests };
  const deliveries = { client, name: settings.deliveriesTable };
  const webhooks = createWebhookRegister(client, requests.name);
  const api = createStreamApi(client, requests.name, createStreamCall(client, environment));
  const listeners: ((moves: number) => void)[] = [];
  const recorder = createMoveRecorder({
    ...{ requests, deliveries, webhooks, logger, now },
    wake: async () => {
      for (const tell of listeners) tell(1);
    },
  });
  const newHolder = () => randomUUID();
  const follower = startStreamFollower({ api, deliveries, record: recorder.record, logger, now, newHolder });
  const unwatch = changes.watch({ anything: true }, follower.hint);
  return {
    deliveries: {
      ...createDeliveryQueue({ deliveries, webhooks }),
      // To take what is due reads the same: asked for one after the other, each delivery would be later by two answers of the store.
      nextDueAt: async () => 0,
      onCommitted: (tell) => void listeners.push(tell),
    },
    async canDeliver() {
      try {
        const stream = await api.find();
        if (stream === undefined) return false;
        await api.listShards(stream);
        return true;
      } catch (cause) {
        if (cause instanceof StreamError && cause.code !== 'UNREACHABLE') return false;
        throw new DependencyUnavailableError('store', { cause });
      }
    },
    async close() {
      unwatch();
      await follower.close();
    },
  };
}
