import type { TableDescription } from '../tables.ts';

/** Indexes of the table of deliveries: what waits, by when it is due, and all of a webhook, by their ids. */
export const deliveryIndexes = {
  due: {
    name: 'byDue',
    partitionKey: { name: 'dueOf', type: 'S' },
    sortKey: { name: 'dueAt', type: 'N' },
    carried: [],
  },
  webhook: {
    name: 'byWebhook',
    partitionKey: { name: 'webhookId', type: 'S' },
    sortKey: { name: 'deliveryId', type: 'S' },
    carried: [
      ...['messageId', 'requestId', 'event', 'at', 'status', 'attempts', 'dueAt'],
      ...['endedAt', 'lastStatus', 'lastError'],
    ],
  },
} as const;

/**
 * The table of deliveries, apart from the others: a receiver that is down for hours takes nothing of what the queue may write. What one
 * webhook is told of one request stands under one key, in order: a lane.
 *
 * @see docs/specification.md WEBHOOK-5
 */
export const deliveriesTable: TableDescription = {
  partitionKey: { name: 'lane', type: 'S' },
  sortKey: { name: 'place', type: 'S' },
  indexes: Object.values(deliveryIndexes),
  ttlAttribute: 'expiresAt',
};
