import {
  type IndexDescription,
  type KeyAttribute,
  type TableDescription,
  type TableNames,
  tableDescriptions,
} from '@prism-gateway/gateway/deployment';
import { RemovalPolicy } from 'aws-cdk-lib';
import { type Attribute, AttributeType, BillingMode, ProjectionType, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { StackContext } from './stackContext.ts';

const TYPES = { S: AttributeType.STRING, N: AttributeType.NUMBER, B: AttributeType.BINARY } as const;

const attribute = ({ name, type }: KeyAttribute): Attribute => ({ name, type: TYPES[type] });

function addIndex(table: Table, { name: indexName, partitionKey, sortKey, carried }: IndexDescription): void {
  table.addGlobalSecondaryIndex({
    indexName,
    partitionKey: attribute(partitionKey),
    sortKey: attribute(sortKey),
    ...(carried.length === 0
      ? { projectionType: ProjectionType.KEYS_ONLY }
      : { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...carried] }),
  });
}

interface NamedTable {
  readonly id: string;
  readonly tableName: string;
  readonly description: TableDescription;
}

function addTable({ stack, settings }: StackContext, { id, tableName, description }: NamedTable): Table {
  const { partitionKey, sortKey, ttlAttribute, indexes } = description;
  const isProd = settings.stage === 'prod';
  const table = new Table(stack, id, {
    tableName,
    partitionKey: attribute(partitionKey),
    ...(sortKey !== undefined && { sortKey: attribute(sortKey) }),
    ...(ttlAttribute !== undefined && { timeToLiveAttribute: ttlAttribute }),
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: isProd,
    removalPolicy: isProd ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  for (const index of indexes) addIndex(table, index);
  return table;
}

/**
 * Adds the three tables, as the driver describes them. Encrypted by DynamoDB with its own key.
 *
 * @see docs/specification.md STORE-7
 */
export function addTables(context: StackContext): Readonly<Record<keyof TableNames, Table>> {
  const { stage } = context.settings;
  const add = (id: string, store: string, description: TableDescription) =>
    addTable(context, { id, tableName: `service-${store}-${stage}`, description });
  return {
    requests: add('RequestsTable', 'requests', tableDescriptions.requests),
    relayers: add('RelayersTable', 'relayers', tableDescriptions.relayers),
    rateLimits: add('RateLimitTable', 'ratelimit', tableDescriptions.rateLimits),
  };
}
