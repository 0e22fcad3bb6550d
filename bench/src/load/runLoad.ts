import autocannon from 'autocannon';

/** One HTTP call. */
export interface Call {
  readonly method: 'GET' | 'PATCH' | 'POST';
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A step of what each connection does over and over. */
export interface Step<State> {
  /** Makes the next call. @param state - of this connection and round */
  make(state: State): Call;
  /** Takes its answer, whose status is 2xx. @throws Error if it is not what was asked for */
  take?(body: string, state: State): void;
}

/** The calls to send to a server. */
export interface Load<State> {
  readonly port: number;
  readonly connections: number;
  /** How often the steps are gone through, by all connections together; rounded up to as often by each if there are several steps. */
  readonly rounds: number;
  readonly steps: readonly Step<State>[];
}

/** The result of a load. */
export interface LoadResult {
  /** Rounds that were gone through. */
  readonly rounds: number;
  readonly elapsedMs: number;
  readonly perSecond: number;
  /** Of single calls, in milliseconds, sorted. */
  readonly latencies: Float64Array;
  /** CPU time of the load meanwhile, in seconds. */
  readonly cpuSeconds: number;
}

const TIMEOUT_SECONDS = 60;
/** How often autocannon looks whether it is at its end. */
const SAMPLE_MS = 20;

/**
 * Goes through steps over keep-alive connections, one call at a time on each.
 *
 * @returns what was seen
 * @throws Error on a broken connection, or on an answer that is not 2xx: a figure made of errors is no figure
 */
export async function runLoad<State extends object>(load: Load<State>): Promise<LoadResult> {
  const connections = Math.min(load.connections, load.rounds);
  const isSequence = load.steps.length > 1;
  const rounds = isSequence ? Math.ceil(load.rounds / connections) * connections : load.rounds;
  const latencies = new Float64Array(rounds * load.steps.length);
  let [answers, endedAt] = [0, 0];
  let failure: Error | undefined;
  const ended = Promise.withResolvers<autocannon.Result>();

  const toRequest = ({ make, take }: Step<State>): autocannon.Request => ({
    setupRequest(request, state) {
      // autocannon writes the length among the headers.
      const { headers, ...call } = make(state as State);
      return { ...request, ...call, headers: { ...headers } };
    },
    onResponse(status, body, state) {
      try {
        if (status < 200 || status > 299) throw new Error(`An answer with status ${status} was not expected: ${body}`);
        take?.(body, state as State);
      } catch (error) {
        failure ??= error as Error;
      }
    },
  });

  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const instance = autocannon(
    {
      url: `http://127.0.0.1:${load.port}`,
      connections,
      amount: latencies.length,
      timeout: TIMEOUT_SECONDS,
      sampleInt: SAMPLE_MS,
      requests: load.steps.map(toRequest),
    },
    (error, result) => (error ? ended.reject(error) : ended.resolve(result)),
  );
  instance.on('response', (_client, _status, _bytes, latencyMs) => {
    latencies[answers++] = latencyMs;
    endedAt = performance.now();
    if (failure !== undefined) instance.stop();
  });
  instance.on('reqError', (error: Error) => {
    failure ??= new Error('A connection broke.', { cause: error });
    instance.stop();
  });
  await ended.promise;
  if (failure !== undefined) throw failure;
  const elapsedMs = endedAt - startedAt;
  const used = process.cpuUsage(cpu);
  const cpuSeconds = (used.user + used.system) / 1e6;
  return { rounds, elapsedMs, perSecond: (rounds / elapsedMs) * 1000, latencies: latencies.sort(), cpuSeconds };
}

/** Sends prepared calls, each once, or in turn if there are more rounds than calls. */
export function replay(calls: readonly Call[]): Step<object> {
  let next = 0;
  // An index of a list that is not empty.
  return { make: () => calls[next++ % calls.length]! };
}
