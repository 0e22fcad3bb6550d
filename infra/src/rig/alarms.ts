/** One value of a metric; of most, the alarms read one series, whose dimensions are not reported. */
export interface Point {
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since the beginning of the play. */
  readonly at: number;
  readonly value: number;
  /** By name; absent: those of the series that is read. */
  readonly dimensions?: Readonly<Record<string, string>>;
}

/** A line of the function's log, which may carry metrics. */
export interface EmfLine {
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
  readonly [name: string]: unknown;
}

/** The points of a line of the log, by stage alone, as the alarms read them. */
export function pointsOf(line: EmfLine, at: number): Point[] {
  return (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.some((names) => names.join() === 'Stage')
      ? Metrics.flatMap(({ Name }) =>
          // One value, or those that were gathered.
          [line[Name]].flat().map((value) => ({ namespace: Namespace, name: Name, at, value: Number(value) })),
        )
      : [],
  );
}

interface Dimension {
  readonly Name: string;
  readonly Value: unknown;
}

interface MetricStat {
  readonly Metric: {
    readonly Namespace: string;
    readonly MetricName: string;
    readonly Dimensions?: readonly Dimension[];
  };
  readonly Stat: string;
  readonly Period: number;
}

interface MetricQuery {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: MetricStat;
  readonly ReturnData?: boolean;
}

/** An alarm's properties, as the template has them. */
export type AlarmProperties = Readonly<Record<string, unknown>>;

const MS_PER_SECOND = 1000;

function statistic(points: readonly Point[], stat: string): number | undefined {
  const values = points.map(({ value }) => value);
  if (values.length === 0) return undefined;
  if (stat === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  if (stat === 'Maximum') return Math.max(...values);
  const [, percent] = /^p(\d+)$/.exec(stat) ?? [];
  // The nearest rank: of fewer values than a hundred the 99th percentile is the largest.
  if (percent !== undefined)
    return values.toSorted((a, b) => a - b)[Math.ceil((Number(percent) / 100) * values.length) - 1];
  throw new Error(`The model does not know the statistic ${stat}.`);
}

type Series = Readonly<Record<string, number | undefined>>;

/** Evaluates metric math by JavaScript, whose operators are the same; only what the templates use is known. */
function evaluateMath(expression: string, series: Series): number | undefined {
  const FILL = (value: number | undefined, otherwise: number) => value ?? otherwise;
  const IF = (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise);
  const names = Object.keys(series);
  if (!names.some((name) => series[name] !== undefined)) return undefined;
  // The text is the repository's own.
  const compute = new Function('FILL', 'IF', ...names, `return ${expression}`);
  const value: unknown = compute(FILL, IF, ...names.map((name) => series[name]));
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function queriesOf(alarm: AlarmProperties): readonly MetricQuery[] {
  // CloudFormation's own forms: several metrics, or one.
  if (Array.isArray(alarm.Metrics)) return alarm.Metrics as readonly MetricQuery[];
  const { Namespace, MetricName, Statistic, ExtendedStatistic, Period } = alarm;
  const Metric = { Namespace: String(Namespace), MetricName: String(MetricName) };
  return [
    {
      Id: 'only',
      MetricStat: { Metric, Stat: String(Statistic ?? ExtendedStatistic), Period: Number(Period) },
      ReturnData: true,
    },
  ];
}

function isOf({ Namespace, MetricName, Dimensions = [] }: MetricStat['Metric'], point: Point): boolean {
  const { namespace, name, dimensions } = point;
  if (namespace !== Namespace || name !== MetricName) return false;
  if (dimensions === undefined) return true;
  const isSame = Dimensions.every(({ Name, Value }) => dimensions[Name] === Value);
  return isSame && Dimensions.length === Object.keys(dimensions).length;
}

/** Value of one period, which ends at a time. */
function evaluatePeriod(
  queries: readonly MetricQuery[],
  points: readonly Point[],
  period: { from: number; to: number },
) {
  const within = points.filter(({ at }) => at >= period.from && at < period.to);
  const plain = queries.flatMap(({ Id, MetricStat }) => {
    if (MetricStat === undefined) return [];
    const own = within.filter((point) => isOf(MetricStat.Metric, point));
    return [[Id, statistic(own, MetricStat.Stat)] as const];
  });
  const expression = queries.find(({ Expression }) => Expression !== undefined)?.Expression;
  return expression === undefined ? plain[0]?.[1] : evaluateMath(expression, Object.fromEntries(plain));
}

/**
 * Whether an alarm is raised at a time, as CloudWatch would from these points.
 *
 * @param at - milliseconds since the beginning of the play; periods are counted back from it
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
 */
export function isRaised(alarm: AlarmProperties, points: readonly Point[], at: number): boolean {
  const queries = queriesOf(alarm);
  const periodMs = Number(queries.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period) * MS_PER_SECOND;
  const periods = Array.from({ length: Number(alarm.EvaluationPeriods) }, (_, i) => ({
    from: at - (i + 1) * periodMs,
    to: at - i * periodMs,
  }));
  const bad = periods.filter((period) => {
    const value = evaluatePeriod(queries, points, period);
    return value === undefined ? alarm.TreatMissingData === 'breaching' : value >= Number(alarm.Threshold);
  });
  return bad.length >= Number(alarm.DatapointsToAlarm);
}
