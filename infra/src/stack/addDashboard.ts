import { EMF_NAMESPACE, type TableNames } from '@prism-gateway/gateway/deployment';
import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  PeriodOverride,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { functionMetric, gatewayMetric, tableMetric, tableThrottles } from './gatewayMetrics.ts';
import type { StackContext } from './stackContext.ts';

interface Shown {
  readonly target: IFunction;
  readonly alarms: readonly Alarm[];
  readonly functionLog: ILogGroup;
}

const MINUTE = Duration.minutes(1);
/** Of 24 columns, and in rows. */
const HALF = 12;
const HEIGHT = 6;

const KINDS = ['requests', 'relayers', 'rateLimits'] as const satisfies readonly (keyof TableNames)[];

const reading = (statistic: string, label: string) => ({ statistic, label, period: MINUTE });

function graph(title: string, unit: string, metrics: readonly IMetric[]): IWidget {
  return new GraphWidget({
    title,
    width: HALF,
    height: HEIGHT,
    left: [...metrics],
    leftYAxis: { label: unit, min: 0, showUnits: false },
  });
}

function queueRow(stage: string): IWidget[] {
  return [
    graph('Queue: age of the oldest pending request', 's', [
      gatewayMetric(stage, 'OldestPendingAge', reading('Maximum', 'oldest pending')),
      gatewayMetric(stage, 'ClaimOverdue', reading('Maximum', 'claim beyond its lease')),
    ]),
    graph('Queue: claims', 'a minute', [
      gatewayMetric(stage, 'ClaimsWon', reading('Sum', 'won')),
      gatewayMetric(stage, 'ClaimsLost', reading('Sum', 'lost to rivals')),
      gatewayMetric(stage, 'Reports', reading('Sum', 'reported')),
    ]),
  ];
}

function callRows(stage: string, { target }: Pick<Shown, 'target'>): IWidget[][] {
  const byRoute = new MathExpression({
    expression: `SEARCH('{${EMF_NAMESPACE},Stage,Route} MetricName="Latency" Stage="${stage}"', 'p99', 60)`,
    usingMetrics: {},
    label: '',
    period: MINUTE,
  });
  return [
    [
      graph('Calls', 'a minute', [
        functionMetric(target, 'UrlRequestCount', reading('Sum', 'all')),
        functionMetric(target, 'Url4xxCount', reading('Sum', '4xx')),
        functionMetric(target, 'Url5xxCount', reading('Sum', '5xx')),
      ]),
      graph('Latency', 'ms', [
        functionMetric(target, 'UrlRequestLatency', reading('p50', 'p50, as the caller sees it')),
        functionMetric(target, 'UrlRequestLatency', reading('p99', 'p99, as the caller sees it')),
        gatewayMetric(stage, 'Latency', reading('p99', 'p99 within the gateway')),
      ]),
    ],
    [
      graph('Answers of the gateway', 'a minute', [
        gatewayMetric(stage, 'ClientErrors', reading('Sum', '4xx')),
        gatewayMetric(stage, 'ServerErrors', reading('Sum', '5xx')),
      ]),
      graph('p99 by route, within the gateway', 'ms', [byRoute]),
    ],
  ];
}

function functionRow(stage: string, { target }: Pick<Shown, 'target'>, functionLog: ILogGroup): IWidget[] {
  return [
    graph('Function', 'a minute', [
      functionMetric(target, 'ConcurrentExecutions', reading('Maximum', 'instances at once')),
      functionMetric(target, 'Throttles', reading('Sum', 'throttled')),
      functionMetric(target, 'Errors', reading('Sum', 'errors')),
      gatewayMetric(stage, 'ColdStarts', reading('Sum', 'cold starts')),
    ]),
    new LogQueryWidget({
      title: 'Memory',
      width: HALF,
      height: HEIGHT,
      view: LogQueryVisualizationType.LINE,
      logGroupNames: [functionLog.logGroupName],
      queryLines: ['filter ispresent(MaxMemoryMb)', 'stats max(MaxMemoryMb) as MB by bin(5m)'],
    }),
  ];
}

function tableRow({ stage, tables }: StackContext['settings']): IWidget[] {
  const units = (metricName: string, word: string) =>
    KINDS.map((kind) => tableMetric({ tableName: tables[kind] }, metricName, reading('Sum', `${kind}, ${word}`)));
  return [
    graph('Tables: units', 'a minute', [
      ...units('ConsumedReadCapacityUnits', 'read'),
      ...units('ConsumedWriteCapacityUnits', 'written'),
      gatewayMetric(stage, 'ReadUnits', reading('Sum', 'read, as the function saw it, indexes too')),
      gatewayMetric(stage, 'WriteUnits', reading('Sum', 'written, likewise')),
    ]),
    graph(
      'Tables: throttled',
      'a minute',
      KINDS.map((kind) =>
        tableThrottles(tables, { kind, events: ['ReadThrottleEvents', 'WriteThrottleEvents'], period: MINUTE }),
      ),
    ),
  ];
}

/** Adds the dashboard: alarms, queue, calls, function, tables. */
export function addDashboard({ stack, settings }: StackContext, shown: Shown): Dashboard {
  const { stage } = settings;
  return new Dashboard(stack, 'Dashboard', {
    dashboardName: `prism-gateway-${stage}`,
    defaultInterval: Duration.hours(3),
    periodOverride: PeriodOverride.AUTO,
    widgets: [
      [new AlarmStatusWidget({ title: 'Alarms', width: 24, height: 3, alarms: [...shown.alarms] })],
      queueRow(stage),
      ...callRows(stage, shown),
      functionRow(stage, shown, shown.functionLog),
      tableRow(settings),
    ],
  });
}
