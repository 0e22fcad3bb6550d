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

/** Ages in the queue, in milliseconds. */
interface QueueAges {
  /** Age of the oldest pending request that counts; 0 if none does. */
  readonly oldestPendingMs: number;
  /** How long the most overdue claim has been beyond its lease; 0 if none is. */
  readonly overdueMs: number;
}

/** A metric's name, its unit as CloudWatch calls it, and its value, or several. */
type Point = readonly [name: string, unit: 'Milliseconds' | 'Seconds' | 'Count', value: number | readonly number[]];

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
const BYTES_PER_MB = 1_000_000;
/** Statuses from which an answer is a client's fault, and from which it is ours. */
const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;
/** For how long answers are gathered, in milliseconds: CloudWatch counts by the minute. */
const GATHER_MS = 60_000;
/** Most values of a metric in one line. @see the specification of the format, below */
const MOST_VALUES = 100;

/**
 * Makes metrics that CloudWatch reads out of the function's log: of one process among many, a registry to be scraped would show
 * a part only. Answers are gathered for a minute, since the log is paid for by its size; a first answer and an error of ours are written
 * at once, with all that was gathered. An instance that ends takes along what it has gathered since its last line.
 *
 * Metrics: `Latency` (ms, by stage, and by stage and route), `ServerErrors`, `ClientErrors`, `ColdStarts` (an instance's first call),
 * `ClaimsWon`, `ClaimsLost`, `Reports`, `WriteUnits`, `ReadUnits`, `OldestPendingAge` (s), `ClaimOverdue` (s), by stage.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function createEmfMetrics({ stage, write, now, takeUnits }: EmfOptions): EmfMetrics {
  const counts = { won: 0, lost: 0, reports: 0, coldStarts: 1, serverErrors: 0, clientErrors: 0 };
  /** Of the answers that were gathered, in milliseconds, by route. */
  const latencies = new Map<string, number[]>();
  let gathered = 0;
  /** When the first of them was given. */
  let since = 0;

  function writeLine(
    properties: Readonly<Record<string, unknown>>,
    directives: readonly Directive[],
    at: number,
  ): void {
    const metrics = directives.map(({ dimensions, points }) => ({
      Namespace: EMF_NAMESPACE,
      Dimensions: dimensions,
      Metrics: points.map(([Name, Unit]) => ({ Name, Unit })),
    }));
    const values = directives.flatMap(({ points }) => points.map(([name, , value]) => [name, value] as const));
    const head = { _aws: { Timestamp: at, CloudWatchMetrics: metrics }, Stage: stage };
    write(`${JSON.stringify({ ...head, ...properties, ...Object.fromEntries(values) })}\n`);
  }

  /** The points counted since the last line. */
  function takeCounts(): Point[] {
    const { reads, writes } = takeUnits();
    const points: Point[] = [
      ['ServerErrors', 'Count', counts.serverErrors],
      ['ClientErrors', 'Count', counts.clientErrors],
      ['ColdStarts', 'Count', counts.coldStarts],
      ['ClaimsWon', 'Count', counts.won],
      ['ClaimsLost', 'Count', counts.lost],
      ['Reports', 'Count', counts.reports],
      ['WriteUnits', 'Count', writes],
      ['ReadUnits', 'Count', reads],
    ];
    Object.assign(counts, { won: 0, lost: 0, reports: 0, coldStarts: 0, serverErrors: 0, clientErrors: 0 });
    return points.filter(([, , count]) => count !== 0);
  }

  /** Writes a line a route; the first one has the counts. */
  function flush(): void {
    let points = takeCounts();
    for (const [Route, values] of latencies) {
      const directives: Directive[] = [
        { dimensions: [['Stage'], ['Stage', 'Route']], points: [['Latency', 'Milliseconds', values]] },
      ];
      if (points.length > 0) directives.push({ dimensions: [['Stage']], points });
      const MaxMemoryMb = Math.ceil((process.resourceUsage().maxRSS * 1024) / BYTES_PER_MB);
      writeLine({ Route, ...(points.length > 0 && { MaxMemoryMb }) }, directives, since);
      points = [];
    }
    latencies.clear();
    gathered = 0;
  }

  return {
    answered({ route, status, seconds }) {
      if (gathered === 0) since = now();
      const isFirst = counts.coldStarts > 0;
      if (status >= SERVER_ERROR) counts.serverErrors++;
      else if (status >= CLIENT_ERROR) counts.clientErrors++;
      const values = latencies.get(route) ?? [];
      latencies.set(route, values);
      values.push(Math.round(seconds * MS_PER_SECOND * 100) / 100);
      gathered++;
      if (isFirst || status >= SERVER_ERROR || gathered === MOST_VALUES || now() - since >= GATHER_MS) flush();
    },
    claimed(result) {
      counts[result]++;
    },
    reported() {
      counts.reports++;
    },
    measured({ oldestPendingMs, overdueMs }) {
      flush();
      const points: Point[] = [
        ['OldestPendingAge', 'Seconds', oldestPendingMs / MS_PER_SECOND],
        ['ClaimOverdue', 'Seconds', overdueMs / MS_PER_SECOND],
      ];
      writeLine({}, [{ dimensions: [['Stage']], points }], now());
    },
  };
}
