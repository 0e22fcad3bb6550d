import { beforeEach, expect, it } from 'vitest';
import { createEmfMetrics, type EmfMetrics } from './createEmfMetrics.ts';

const START = 1_800_000_000_000;
const MINUTE = 60_000;
let lines: string[];
let metrics: EmfMetrics;
let clock: number;
let units: { reads: number; writes: number };

beforeEach(() => {
  lines = [];
  clock = START;
  units = { reads: 0, writes: 0 };
  metrics = createEmfMetrics({
    stage: 'dev',
    now: () => clock,
    write: (line) => lines.push(line),
    takeUnits: () => units,
  });
});

interface Line {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
  readonly [name: string]: unknown;
}

/** Reads the only line, and checks what CloudWatch asks of every line: names that have values, and dimensions that are text. */
function readLine(): Line {
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]*\n$/);
  const line = JSON.parse(lines[0] ?? '') as Line;
  for (const { Dimensions, Metrics } of line._aws.CloudWatchMetrics) {
    for (const name of Dimensions.flat()) expect(line[name]).toBeTypeOf('string');
    for (const { Name } of Metrics) {
      const values = [line[Name]].flat();
      expect(values.length).toBeLessThanOrEqual(100);
      for (const value of values) expect(value).toBeTypeOf('number');
    }
  }
  return line;
}

const answer = { method: 'GET', route: '/requests', status: 200, seconds: 0.012345 };

/** Past the first answer, which is written at once. */
function begin(): void {
  metrics.answered(answer);
  lines = [];
}

it('writes the first answer of an instance as one line that CloudWatch reads, and as a cold start', () => {
  metrics.answered(answer);
  const line = readLine();
  expect(line).toMatchObject({ Stage: 'dev', Route: '/requests', Latency: [12.35], ColdStarts: 1 });
  expect(line._aws).toEqual({
    Timestamp: START,
    CloudWatchMetrics: [
      {
        Namespace: 'PrismGateway',
        Dimensions: [['Stage'], ['Stage', 'Route']],
        Metrics: [{ Name: 'Latency', Unit: 'Milliseconds' }],
      },
      { Namespace: 'PrismGateway', Dimensions: [['Stage']], Metrics: [{ Name: 'ColdStarts', Unit: 'Count' }] },
    ],
  });
});

it('gathers what follows for a minute: a line a route, by the time of the first', () => {
  begin();
  clock += 1000;
  const since = clock;
  for (let i = 0; i < 5; i++) metrics.answered(answer);
  metrics.answered({ ...answer, route: '/ready', status: 404 });
  clock += MINUTE - 1;
  metrics.answered(answer);
  expect(lines).toEqual([]);
  clock += 1;
  units = { reads: 2.5, writes: 4 };
  metrics.claimed('won');
  metrics.claimed('lost');
  metrics.reported();
  metrics.answered(answer);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      ...{ _aws: { Timestamp: since }, Route: '/requests', Latency: Array(7).fill(12.35), ClientErrors: 1 },
      ...{ ClaimsWon: 1, ClaimsLost: 1, Reports: 1, ReadUnits: 2.5, WriteUnits: 4 },
    },
    { _aws: { Timestamp: since }, Route: '/ready', Latency: [12.35] },
  ]);
  expect(lines[1]).not.toContain('ClientErrors');
});

it.each([500, 503])('writes an error of ours at once, with what was gathered: %i', (status) => {
  begin();
  metrics.answered(answer);
  metrics.answered({ ...answer, status });
  expect(readLine()).toMatchObject({ ServerErrors: 1, Latency: [12.35, 12.35] });
  lines = [];
  metrics.answered(answer);
  expect(lines).toEqual([]);
});

it('writes no line of more values than CloudWatch takes, and loses none', () => {
  begin();
  for (let i = 0; i < 250; i++) metrics.answered(answer);
  metrics.measured({ oldestPendingMs: 0, overdueMs: 0 });
  const values = lines.flatMap((line) => JSON.parse(line).Latency ?? []);
  expect(values).toHaveLength(250);
});

it('writes how long requests wait, and claims, in seconds, with what was gathered', () => {
  begin();
  metrics.answered(answer);
  metrics.measured({ oldestPendingMs: 59_500, overdueMs: 0 });
  lines = lines.slice(1);
  expect(readLine()).toMatchObject({ OldestPendingAge: 59.5, ClaimOverdue: 0, Stage: 'dev' });
});
