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
 * webhook is sent about one request stands under one key, in order: a lane.
 *
 * @see docs/specification.md WEBHOOK-5
 */
export const deliveriesTable: TableDescription = {
  partitionKey: { name: 'lane', type: 'S' },
  sortKey: { name: 'place', type: 'S' },
  indexes: Object.values(deliveryIndexes),
  ttlAttribute: 'expiresAt',
};

/** Names of the stores, as the settings give them. */
export interface TableNames {
  readonly requests: string;
  readonly relayers: string;
  readonly rateLimits: string;
}

/** A key attribute: text, number or bytes. */
export interface KeyAttribute {
  readonly name: string;
  readonly type: 'S' | 'N' | 'B';
}

/** A global secondary index. It holds the keys of table and index, and what is named here besides. */
export interface IndexDescription {
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
  /** Attributes that nearly always change together with the keys, if ever, so that carrying them costs no write. */
  readonly carried: readonly string[];
}

/** A table, in the words that both `CreateTable` and infrastructure code can be made from. */
export interface TableDescription {
  readonly partitionKey: KeyAttribute;
  readonly sortKey?: KeyAttribute;
  readonly indexes: readonly IndexDescription[];
  /** Attribute with the second (Unix time) from which an item may be removed. */
  readonly ttlAttribute?: string;
  /** Whether its writes are reported, with the items before and after. */
  readonly hasStream?: boolean;
}

const position: KeyAttribute = { name: 'order', type: 'B' };

/**
 * Indexes of the requests' table. `status` holds each request by its status, in the order of its chain. `found` holds what succeeded by
 * its transaction, and what was given back by its chain, in the order in which it was: of all others it has nothing.
 */
export const requestIndexes = {
  signer: { name: 'bySigner', partitionKey: { name: 'from', type: 'B' }, sortKey: position, carried: [] },
  status: {
    name: 'byStatus',
    partitionKey: { name: 'shard', type: 'S' },
    sortKey: { name: 'place', type: 'B' },
    carried: ['chainName', 'claimedBy', 'claimedAt'],
  },
  found: {
    name: 'byTransactionOrRelease',
    partitionKey: { name: 'foundBy', type: 'S' },
    sortKey: { name: 'foundAt', type: 'B' },
    carried: [],
  },
} as const satisfies Record<string, IndexDescription>;

/** Attribute with the time from which an item may be removed. */
export const TTL_ATTRIBUTE = 'expiresAt';

/** The three tables. All are on demand. @see docs/specification.md STORE-7 */
export const tableDescriptions: Readonly<Record<keyof TableNames, TableDescription>> = {
  requests: {
    partitionKey: { name: 'requestId', type: 'S' },
    indexes: Object.values(requestIndexes),
    ttlAttribute: TTL_ATTRIBUTE,
    hasStream: true,
  },
  relayers: { partitionKey: { name: 'address', type: 'S' }, indexes: [] },
  rateLimits: {
    partitionKey: { name: 'client', type: 'S' },
    sortKey: { name: 'window', type: 'N' },
    indexes: [],
    ttlAttribute: TTL_ATTRIBUTE,
  },
};
