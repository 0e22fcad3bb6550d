import type { Metrics } from '../../ports/metrics.ts';
import type { RequestStats } from '../../ports/requestStore.ts';

/** Namespace of the metrics in CloudWatch. */
export const EMF_NAMESPACE = 'PrismGateway';

interface EmfOptions {
  /** Value of the dimension `Stage`. */
  readonly stage: string;
  /** Takes a whole line, its newline included, and has written it when it returns. */
  readonly write: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A metric's name, its unit as CloudWatch calls it, and its value. */
type Point = readonly [name: string, unit: 'Milliseconds' | 'Seconds' | 'Count', value: number];

interface Directive {
  readonly dimensions: readonly (readonly string[])[];
  readonly points: readonly Point[];
}

/** Metrics as lines of the log. */
export interface EmfMetrics extends Omit<Metrics, 'render'> {
  /** Writes how old the oldest pending request is; 0 where none is pending. */
  measured(stats: RequestStats): void;
}

const MS_PER_SECOND = 1000;
/** Statuses from which an answer is a client's fault, and from which it is ours. */
const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;

/**
 * Makes metrics that CloudWatch reads out of the function's log: of one process among many, a registry to be scraped would show
 * a part only. Each line is written at once; nothing waits to be flushed.
 *
 * Metrics: `Latency` (ms, by stage, and by stage and route), `ServerErrors`, `ClientErrors`, `ClaimsWon`, `ClaimsLost`,
 * `OldestPendingAge` (s), by stage.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function createEmfMetrics({ stage, write, now }: EmfOptions): EmfMetrics {
  const claims = { won: 0, lost: 0 };

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

  /** Claims since the last line: their own answer's line carries them. */
  function takeClaims(): Point[] {
    const points: Point[] = [
      ['ClaimsWon', 'Count', claims.won],
      ['ClaimsLost', 'Count', claims.lost],
    ];
    claims.won = 0;
    claims.lost = 0;
    return points.filter(([, , count]) => count > 0);
  }

  return {
    answered({ method, route, status, seconds }) {
      const counts: Point[] = [
        ['ServerErrors', 'Count', status >= SERVER_ERROR ? 1 : 0],
        ['ClientErrors', 'Count', status >= CLIENT_ERROR && status < SERVER_ERROR ? 1 : 0],
        ...takeClaims(),
      ];
      const latency: Point = ['Latency', 'Milliseconds', Math.round(seconds * MS_PER_SECOND * 100) / 100];
      writeLine({ Route: route, Method: method, Status: status }, [
        { dimensions: [['Stage'], ['Stage', 'Route']], points: [latency] },
        { dimensions: [['Stage']], points: counts },
      ]);
    },
    claimed(result) {
      claims[result]++;
    },
    measured({ oldestPendingAt }) {
      const ageMs = oldestPendingAt === undefined ? 0 : Math.max(0, now() - oldestPendingAt);
      const age: Point = ['OldestPendingAge', 'Seconds', ageMs / MS_PER_SECOND];
      writeLine({}, [{ dimensions: [['Stage']], points: [age] }]);
    },
  };
}
