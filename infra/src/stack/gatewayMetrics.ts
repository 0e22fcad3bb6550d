import { EMF_NAMESPACE, type TableNames, tableDescriptions } from '@prism-gateway/gateway/deployment';
import type { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';

/** A metric's statistic over a period. */
export interface Reading {
  readonly statistic: string;
  readonly period: Duration;
  readonly label?: string;
}

/** Metrics that the function itself writes. @see packages/gateway/src/drivers/emf/createEmfMetrics.ts */
export type GatewayMetricName =
  | 'Latency'
  | 'ServerErrors'
  | 'ClientErrors'
  | 'ColdStarts'
  | 'Reports'
  | 'WriteUnits'
  | 'ReadUnits'
  | 'ClaimOverdue'
  | 'ClaimsWon'
  | 'ClaimsLost'
  | 'OldestPendingAge';

/** Reads one of the function's own metrics. */
export function gatewayMetric(stage: string, metricName: GatewayMetricName, reading: Reading): Metric {
  return new Metric({ namespace: EMF_NAMESPACE, metricName, dimensionsMap: { Stage: stage }, ...reading });
}

/** Reads one of Lambda's metrics; those of the function's URL also know of calls that never reached it. */
export function functionMetric(
  target: IFunction,
  metricName:
    | 'Errors'
    | 'Throttles'
    | 'ConcurrentExecutions'
    | 'UrlRequestCount'
    | 'Url4xxCount'
    | 'Url5xxCount'
    | 'UrlRequestLatency',
  reading: Reading,
): Metric {
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: target.functionName },
    ...reading,
  });
}

interface TablePart {
  readonly tableName: string;
  readonly indexName?: string;
}

/** Reads one of DynamoDB's metrics of a table, or of one of its indexes. */
export function tableMetric({ tableName, indexName }: TablePart, metricName: string, reading: Reading): Metric {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: tableName, ...(indexName !== undefined && { GlobalSecondaryIndexName: indexName }) },
    ...reading,
  });
}

interface SumOptions {
  /** The prefix of the summands' ids. */
  readonly id: string;
  readonly label: string;
  readonly period: Duration;
}

/** Adds metrics up; what has no data counts as nothing. Ids must be unique in a graph, so each sum has its own. */
function sumOf(metrics: readonly IMetric[], { id, label, period }: SumOptions): MathExpression {
  const named = Object.fromEntries(metrics.map((metric, i) => [`${id}${i}`, metric]));
  const expression = Object.keys(named)
    .map((name) => `FILL(${name}, 0)`)
    .join(' + ');
  return new MathExpression({ expression, usingMetrics: named, period, label });
}

type ThrottleEvents = 'ReadThrottleEvents' | 'WriteThrottleEvents';

/** Both kinds of throttling. */
export const BOTH_THROTTLES: readonly ThrottleEvents[] = ['ReadThrottleEvents', 'WriteThrottleEvents'];

interface ThrottleQuestion {
  /** An alarm adds up ten metrics at most, and a table with five indexes has twelve. */
  readonly events: readonly ThrottleEvents[];
  readonly period: Duration;
}

interface ThrottledTable extends ThrottleQuestion {
  readonly tableName: string;
  readonly indexes: readonly { readonly name: string }[];
  /** The prefix of the summands' ids. */
  readonly id: string;
}

/** Counts what was throttled in a table and its indexes; a throttled index holds up writes to its table. */
export function throttlesOf({ tableName, indexes, id, events, period }: ThrottledTable): MathExpression {
  const parts: TablePart[] = [{ tableName }, ...indexes.map(({ name }) => ({ tableName, indexName: name }))];
  const reading = { statistic: 'Sum', period };
  const metrics = parts.flatMap((part) => events.map((name) => tableMetric(part, name, reading)));
  return sumOf(metrics, { id: `${id}${events.join('')}`, label: tableName, period });
}

/** The same of one of the gateway's tables. */
export function tableThrottles(
  tables: TableNames,
  { kind, ...question }: ThrottleQuestion & { readonly kind: keyof TableNames },
): MathExpression {
  const { indexes } = tableDescriptions[kind];
  return throttlesOf({ tableName: tables[kind], indexes, id: kind, ...question });
}
