import type { LoadResult } from './loadResult.ts';
import { type Connection, openConnection } from './openConnection.ts';
import { summariseLatency } from './summariseLatency.ts';

/** What one connection does: it gets each answer and says what to ask next. */
export interface Lane {
  /** @returns the first call, or undefined to do nothing */
  begin(): Buffer | undefined;
  /**
   * @param status of the answer
   * @param body valid during the call only
   * @returns the next call, or undefined at the end
   */
  next(status: number, body: Buffer): Buffer | undefined;
}

/** Lanes to run against one server. */
export interface LaneRun {
  readonly port: number;
  readonly lanes: readonly Lane[];
  readonly keepBody: boolean;
  /** The status that every answer to a well-made call has; another one fails the run. */
  readonly expects: (status: number) => boolean;
  /** Upper bound of answers, for which room is made before the clock starts. */
  readonly maxAnswers: number;
}

/**
 * Runs lanes, each over a connection of its own and one call at a time, until all have ended.
 *
 * @param run lanes and server
 * @returns what was seen; `done` counts answers
 * @throws Error on a broken connection, or on an answer that was not expected: a figure made of errors is no figure
 */
export async function runLanes(run: LaneRun): Promise<LoadResult> {
  const latencies = new Float64Array(run.maxAnswers);
  const statuses = new Uint32Array(600);
  const finished = Promise.withResolvers<void>();
  // A connection may break while others are still being opened; it is awaited below all the same.
  finished.promise.catch(() => {});
  const connections: Connection[] = [];
  const starts: (() => void)[] = [];
  let answers = 0;
  let running = run.lanes.length;

  for (const lane of run.lanes) {
    let sentAt = 0;
    const send = (request: Buffer | undefined) => {
      if (request === undefined) {
        running -= 1;
        if (running === 0) finished.resolve();
        return;
      }
      sentAt = performance.now();
      connection.send(request);
    };
    const connection = await openConnection({
      port: run.port,
      keepBody: run.keepBody,
      onFailure: finished.reject,
      onAnswer(status, body) {
        latencies[answers++] = performance.now() - sentAt;
        // Every status the parser lets through is below 600.
        statuses[status]! += 1;
        if (run.expects(status)) send(lane.next(status, body));
        else finished.reject(new Error(`An answer with status ${status} was not expected. ${body.toString('utf8')}`));
      },
    });
    connections.push(connection);
    starts.push(() => send(lane.begin()));
  }

  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  try {
    for (const start of starts) start();
    await finished.promise;
  } finally {
    for (const connection of connections) connection.close();
  }
  const elapsedMs = performance.now() - startedAt;
  const used = process.cpuUsage(cpu);
  return {
    done: answers,
    elapsedMs,
    perSecond: (answers / elapsedMs) * 1000,
    latencyMs: summariseLatency(latencies.subarray(0, answers)),
    statuses: namedStatuses(statuses),
    loadCpuSeconds: (used.user + used.system) / 1e6,
    requestIds: [],
  };
}

function namedStatuses(counts: Uint32Array): Record<string, number> {
  const named: Record<string, number> = {};
  counts.forEach((count, status) => {
    if (count > 0) named[status] = count;
  });
  return named;
}
