import { beforeEach, expect, it } from 'vitest';
import { createEmfMetrics, type EmfMetrics } from './createEmfMetrics.ts';

let lines: string[];
let metrics: EmfMetrics;
let units: { reads: number; writes: number };

beforeEach(() => {
  lines = [];
  units = { reads: 0, writes: 0 };
  metrics = createEmfMetrics({
    stage: 'dev',
    now: () => 1_800_000_000_000,
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
    for (const { Name } of Metrics) expect(line[Name]).toBeTypeOf('number');
  }
  return line;
}

const answer = { method: 'GET', route: '/requests', status: 200, seconds: 0.012345 };

it('writes an answer as one line that CloudWatch reads', () => {
  metrics.answered(answer);
  const line = readLine();
  expect(line).toMatchObject({
    Stage: 'dev',
    Route: '/requests',
    Status: 200,
    Latency: 12.35,
    ServerErrors: 0,
    ClientErrors: 0,
  });
  expect(line._aws).toEqual({
    Timestamp: 1_800_000_000_000,
    CloudWatchMetrics: [
      {
        Namespace: 'PrismGateway',
        Dimensions: [['Stage'], ['Stage', 'Route']],
        Metrics: [{ Name: 'Latency', Unit: 'Milliseconds' }],
      },
      {
        Namespace: 'PrismGateway',
        Dimensions: [['Stage']],
        Metrics: [
          { Name: 'ServerErrors', Unit: 'Count' },
          { Name: 'ClientErrors', Unit: 'Count' },
          { Name: 'ColdStarts', Unit: 'Count' },
        ],
      },
    ],
  });
});

it.each([
  [399, 0, 0],
  [400, 1, 0],
  [499, 1, 0],
  [500, 0, 1],
  [503, 0, 1],
])('counts %i as %i errors of clients and %i of ours', (status, ClientErrors, ServerErrors) => {
  metrics.answered({ ...answer, status });
  expect(readLine()).toMatchObject({ ClientErrors, ServerErrors });
});

it('counts a claim with the answer to it, and not again', () => {
  metrics.claimed('won');
  metrics.answered(answer);
  const line = readLine();
  expect([line.ClaimsWon, line.ClaimsLost]).toEqual([1, undefined]);
  lines = [];
  metrics.claimed('lost');
  metrics.answered(answer);
  const next = readLine();
  expect([next.ClaimsWon, next.ClaimsLost]).toEqual([undefined, 1]);
});

it('counts the first answer of an instance as a cold start, and no other', () => {
  metrics.answered(answer);
  expect(readLine().ColdStarts).toBe(1);
  lines = [];
  metrics.answered(answer);
  expect(readLine()).not.toHaveProperty('ColdStarts');
});

it('counts reports and units with the answer that follows them', () => {
  metrics.reported();
  metrics.reported();
  units = { reads: 2.5, writes: 4 };
  metrics.answered(answer);
  expect(readLine()).toMatchObject({ Reports: 2, ReadUnits: 2.5, WriteUnits: 4 });
  lines = [];
  units = { reads: 0, writes: 0 };
  metrics.answered(answer);
  for (const name of ['Reports', 'ReadUnits', 'WriteUnits']) expect(readLine()).not.toHaveProperty(name);
});

it('writes how long requests wait, and claims, in seconds', () => {
  metrics.measured({ oldestPendingMs: 59_500, overdueMs: 0 });
  expect(readLine()).toMatchObject({ OldestPendingAge: 59.5, ClaimOverdue: 0, Stage: 'dev' });
});
