import {
  deliveriesTable,
  type IndexDescription,
  type KeyAttribute,
  type TableDescription,
  type TableNames,
  tableDescriptions,
} from '@prism-gateway/gateway/deployment';
import { CfnCondition, CfnParameter, Fn, Validations } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  type CfnTable,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb';
import type { StageSettings } from '../settings/stageSettings.ts';
import { dataPolicy, type StackContext } from './stackContext.ts';

/** Parameter of the stack with the tables: `on`, or `off` for its very first step, which must be able to be undone. */
export const PROTECTION_PARAMETER = 'Protection';

const TYPES = { S: AttributeType.STRING, N: AttributeType.NUMBER, B: AttributeType.BINARY } as const;

const attribute = ({ name, type }: KeyAttribute): Attribute => ({ name, type: TYPES[type] });

/** Most units a second, if there is a limit: no fault and no flood is billed beyond it. */
function ceilingOf({ tableCeiling: { writeUnits, readUnits } }: StageSettings) {
  return {
    ...(writeUnits > 0 && { maxWriteRequestUnits: writeUnits }),
    ...(readUnits > 0 && { maxReadRequestUnits: readUnits }),
  };
}

function addIndex(
  table: Table,
  settings: StageSettings,
  { name: indexName, partitionKey, sortKey, carried }: IndexDescription,
): void {
  table.addGlobalSecondaryIndex({
    ...ceilingOf(settings),
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
  /** Whether it can be restored to any second. */
  readonly isRestorable: boolean;
}

function addTable({ stack, settings }: StackContext, { id, tableName, description, isRestorable }: NamedTable): Table {
  const { partitionKey, sortKey, ttlAttribute, indexes, hasStream } = description;
  const table = new Table(stack, id, {
    tableName,
    partitionKey: attribute(partitionKey),
    ...(sortKey !== undefined && { sortKey: attribute(sortKey) }),
    ...(ttlAttribute !== undefined && { timeToLiveAttribute: ttlAttribute }),
    ...(hasStream && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
    billingMode: BillingMode.PAY_PER_REQUEST,
    ...ceilingOf(settings),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: isRestorable },
    removalPolicy: dataPolicy(settings),
  });
  for (const index of indexes) addIndex(table, settings, index);
  return table;
}

/**
 * Protects tables of prod from being deleted by anybody, once the stack that makes them has come into being: while they are
 * protected CloudFormation itself could not undo a first attempt that fails.
 */
function protect(stack: StackContext['stack'], tables: readonly Table[]): void {
  const parameter = new CfnParameter(stack, PROTECTION_PARAMETER, {
    description: 'on, but for the first of the two steps that a new stack is made in',
    allowedValues: ['on', 'off'],
    default: 'on',
  });
  const isOn = new CfnCondition(stack, 'IsProtected', { expression: Fn.conditionEquals(parameter, 'on') });
  for (const table of tables) {
    // The construct takes no expression. Its default child is its CloudFormation resource.
    (table.node.defaultChild as CfnTable).deletionProtectionEnabled = Fn.conditionIf(isOn.logicalId, true, false);
  }
}

/**
 * Adds the tables, as the driver describes them. Encrypted by DynamoDB with its own key. Counters are worth nothing a minute
 * later, so that their table cannot be restored.
 *
 * @see docs/specification.md STORE-7
 */
export function addTables(context: StackContext): Readonly<Record<keyof TableNames | 'deliveries', Table>> {
  const { stage } = context.settings;
  const add = (id: string, store: string, part: Pick<NamedTable, 'description' | 'isRestorable'>) =>
    addTable(context, { id, tableName: `service-${store}-${stage}`, ...part });
  const tables = {
    requests: add('RequestsTable', 'requests', { description: tableDescriptions.requests, isRestorable: true }),
    relayers: add('RelayersTable', 'relayers', { description: tableDescriptions.relayers, isRestorable: true }),
    rateLimits: add('RateLimitTable', 'ratelimit', { description: tableDescriptions.rateLimits, isRestorable: false }),
    deliveries: add('DeliveriesTable', 'deliveries', { description: deliveriesTable, isRestorable: true }),
  };
  Validations.of(tables.rateLimits).acknowledge({
    id: 'AwsSolutions-DDB3',
    reason:
      'It holds counters of calls, which are worth nothing a minute later: an empty table is as good as a restored one.',
  });
  if (stage === 'prod') protect(context.stack, Object.values(tables));
  return tables;
}
