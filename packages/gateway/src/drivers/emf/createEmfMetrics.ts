import type { Metrics } from '../../ports/metrics.ts';

/** Namespace of the metrics in CloudWatch. */
export const EMF_NAMESPACE = 'PrismGateway';

interface EmfOptions {
  /** Value of the dimension `Stage`. */
  readonly stage: string;
  /** Takes a whole line, its newline included, and has written it when it returns. */
  readonly write: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Gives the units that tables have counted since it was last asked. */
  readonly takeUnits: () => { readonly reads: number; readonly writes: number };
}

/** What a look at the queue has found, in milliseconds. */
interface QueueAges {
  /** Age of the oldest pending request that counts; 0 where none does. */
  readonly oldestPendingMs: number;
  /** How long the most overdue claim has been beyond its lease; 0 where none is. */
  readonly overdueMs: number;
}

/** A metric's name, its unit as CloudWatch calls it, and its value. */
type Point = readonly [name: string, unit: 'Milliseconds' | 'Seconds' | 'Count', value: number];

interface Directive {
  readonly dimensions: readonly (readonly string[])[];
  readonly points: readonly Point[];
}

/** Metrics as lines of the log. */
export interface EmfMetrics extends Omit<Metrics, 'render'> {
  /** One request moved to its end. */
  reported(): void;
  /** Writes how long requests wait, and claims. */
  measured(ages: QueueAges): void;
}

const MS_PER_SECOND = 1000;
/** Statuses from which an answer is a client's fault, and from which it is ours. */
const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;

/**
 * Makes metrics that CloudWatch reads out of the function's log: of one process among many, a registry to be scraped would show
 * a part only. Each line is written at once; nothing waits to be flushed.
 *
 * Metrics: `Latency` (ms, by stage, and by stage and route), `ServerErrors`, `ClientErrors`, `ColdStarts` (an instance's first call),
 * `ClaimsWon`, `ClaimsLost`, `Reports`, `WriteUnits`, `ReadUnits`, `OldestPendingAge` (s), `ClaimOverdue` (s), by stage.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function createEmfMetrics({ stage, write, now, takeUnits }: EmfOptions): EmfMetrics {
  const counts = { won: 0, lost: 0, reports: 0, coldStarts: 1 };

  function writeLine(properties: Readonly<Record<string, unknown>>, directives: readonly Directive[]): void {
    const metrics = directives.map(({ dimensions, points }) => ({
      Namespace: EMF_NAMESPACE,
      Dimensions: dimensions,
      Metrics: points.map(([Name, Unit]) => ({ Name, Unit })),
    }));
    const values = directives.flatMap(({ points }) => points.map(([name, , value]) => [name, value] as const));
    const head = { _aws: { Timestamp: now(), CloudWatchMetrics: metrics }, Stage: stage };
    write(`${JSON.stringify({ ...head, ...properties, ...Object.fromEntries(values) })}\n`);
  }

  /** What has happened since the last line: the next answer's line carries it. */
  function takeCounts(): Point[] {
    const { reads, writes } = takeUnits();
    const points: Point[] = [
      ['ColdStarts', 'Count', counts.coldStarts],
      ['ClaimsWon', 'Count', counts.won],
      ['ClaimsLost', 'Count', counts.lost],
      ['Reports', 'Count', counts.reports],
      ['WriteUnits', 'Count', writes],
      ['ReadUnits', 'Count', reads],
    ];
    Object.assign(counts, { won: 0, lost: 0, reports: 0, coldStarts: 0 });
    return points.filter(([, , count]) => count > 0);
  }

  return {
    answered({ method, route, status, seconds }) {
      const points: Point[] = [
        ['ServerErrors', 'Count', status >= SERVER_ERROR ? 1 : 0],
        ['ClientErrors', 'Count', status >= CLIENT_ERROR && status < SERVER_ERROR ? 1 : 0],
        ...takeCounts(),
      ];
      const latency: Point = ['Latency', 'Milliseconds', Math.round(seconds * MS_PER_SECOND * 100) / 100];
      writeLine({ Route: route, Method: method, Status: status }, [
        { dimensions: [['Stage'], ['Stage', 'Route']], points: [latency] },
        { dimensions: [['Stage']], points },
      ]);
    },
    claimed(result) {
      counts[result]++;
    },
    reported() {
      counts.reports++;
    },
    measured({ oldestPendingMs, overdueMs }) {
      const points: Point[] = [
        ['OldestPendingAge', 'Seconds', oldestPendingMs / MS_PER_SECOND],
        ['ClaimOverdue', 'Seconds', overdueMs / MS_PER_SECOND],
      ];
      writeLine({}, [{ dimensions: [['Stage']], points }]);
    },
  };
}
