import { EMF_NAMESPACE } from '@prism-gateway/gateway/deployment';
import { describe, expect, it } from 'vitest';
import { createEmfMetrics } from '../../../packages/gateway/src/drivers/emf/createEmfMetrics.ts';
import { STAGES, type Stage } from '../rig/exampleSettings.ts';
import { findOnly, findResources, flatten } from '../rig/readTemplate.ts';

/** A metric with its dimensions: `Latency by Stage`. */
type Series = string;

interface EmfLine {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
}

/** The series that the function writes if it does everything that it can do. */
function writtenSeries(): Set<Series> {
  const lines: string[] = [];
  const metrics = createEmfMetrics({
    stage: 'prod',
    write: (line) => void lines.push(line),
    now: () => 0,
    takeUnits: () => ({ reads: 1, writes: 1 }),
  });
  metrics.claimed('won');
  metrics.claimed('lost');
  metrics.reported();
  for (const status of [404, 500]) metrics.answered({ method: 'GET', route: '/requests', status, seconds: 0.1 });
  metrics.measured({ oldestPendingMs: 0, overdueMs: 0 });
  const directives = lines.flatMap((line) => {
    // Just written, in the form of the specification.
    const { CloudWatchMetrics } = (JSON.parse(line) as EmfLine)._aws;
    return CloudWatchMetrics.filter(({ Namespace }) => Namespace === EMF_NAMESPACE);
  });
  return new Set(
    directives.flatMap(({ Dimensions, Metrics }) =>
      Dimensions.flatMap((names) => Metrics.map(({ Name }) => `${Name} by ${names.join()}`)),
    ),
  );
}

interface PlainMetric {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly { readonly Name: string }[];
}

/** The series that the alarms read. */
function alarmSeries(stage: Stage): Series[] {
  return Object.values(findResources(stage, 'AWS::CloudWatch::Alarm')).flatMap(({ Properties }) => {
    // CloudFormation's own form: one metric, or several that an expression is made of.
    const several = (Properties.Metrics ?? []) as readonly { readonly MetricStat?: { readonly Metric: PlainMetric } }[];
    const metrics = [
      Properties as unknown as PlainMetric,
      ...several.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []),
    ];
    return metrics.flatMap(({ Namespace, MetricName, Dimensions = [] }) =>
      Namespace === EMF_NAMESPACE ? [`${MetricName} by ${Dimensions.map(({ Name }) => Name).join()}`] : [],
    );
  });
}

interface Widget {
  readonly properties: { readonly title: string; readonly metrics?: readonly (readonly unknown[])[] };
}

function readWidgets(stage: Stage): readonly Widget[] {
  const { DashboardBody } = findOnly(stage, 'AWS::CloudWatch::Dashboard').Properties;
  return JSON.parse(flatten(DashboardBody)).widgets;
}

/** The series that the dashboard's graphs read. */
function dashboardSeries(stage: Stage): Series[] {
  return readWidgets(stage)
    .flatMap(({ properties }) => properties.metrics ?? [])
    .flatMap((metric) => {
      const [namespace, name, ...rest] = metric;
      if (namespace === EMF_NAMESPACE) {
        const dimensions = rest.filter((part, i) => typeof part === 'string' && i % 2 === 0);
        return [`${String(name)} by ${dimensions.join()}`];
      }
      const [, dimensions, metricName] =
        /SEARCH\('\{PrismGateway,([\w,]+)\} MetricName="(\w+)"/.exec(JSON.stringify(metric).replaceAll('\\"', '"')) ??
        [];
      return dimensions === undefined ? [] : [`${metricName} by ${dimensions}`];
    });
}

describe.each(STAGES)('metrics of %s', (stage) => {
  const written = writtenSeries();

  it('that alarms read are written by the function', () => {
    const read = alarmSeries(stage);
    expect(read).not.toEqual([]);
    for (const series of read) expect(written).toContain(series);
  });

  it('are all plotted, and nothing is plotted that is not written', () => {
    expect(new Set(dashboardSeries(stage))).toEqual(written);
  });

  it('make a dashboard that begins with the alarms and the queue', () => {
    const widgets = readWidgets(stage);
    expect(widgets.slice(0, 3).map(({ properties }) => properties.title)).toEqual([
      'Alarms',
      'Queue: age of the oldest pending request',
      'Queue: claims',
    ]);
    const [alarms] = widgets;
    expect(alarms?.properties).toHaveProperty('alarms.length', stage === 'prod' ? 17 : 16);
  });
});
