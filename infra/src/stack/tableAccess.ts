import type { TableNames } from '@prism-gateway/gateway/deployment';

/** Allowed operations on a table and its indexes, by DynamoDB's names. */
export interface TableAccess {
  readonly table: readonly string[];
  readonly indexes: readonly string[];
}

/**
 * The operations that the driver uses, and no others: nobody who gets hold of the function can drop, scan or export the queue. A
 * test drives the driver through its whole repertoire and compares.
 */
export const TABLE_ACCESS: Readonly<Record<keyof TableNames, TableAccess>> = {
  requests: { table: ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'], indexes: ['Query'] },
  relayers: { table: ['DeleteItem', 'GetItem', 'Scan', 'UpdateItem'], indexes: [] },
  rateLimits: { table: ['GetItem', 'Query', 'UpdateItem'], indexes: [] },
};
