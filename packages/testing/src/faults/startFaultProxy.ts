import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { listenOnLoopback } from '../listenOnLoopback.ts';
import { createSeededRandom } from './createSeededRandom.ts';
import { FAULT_KINDS, type FaultKind, type FaultShares } from './fault.ts';

/** A call as it reached the proxy. */
export interface ProxiedCall {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface FaultProxyOptions {
  /** Where calls go on to, like `http://127.0.0.1:40123`. */
  readonly upstream: string;
  /** In whose words calls are refused; default `http`. */
  readonly answers?: keyof typeof FAULT_ANSWERS;
  /** Seed of the chances; default 1. */
  readonly seed?: number;
  /** Longest delay of a `delay`, in milliseconds; default 50. */
  readonly maxDelayMs?: number;
}

export interface FaultProxy extends AsyncDisposable {
  /** Its own address, without a trailing slash. */
  readonly url: string;
  /** Calls by what befell them; `passed` were not touched. */
  readonly counts: Readonly<Record<FaultKind | 'passed', number>>;
  /** Sets the chances from now on; at the start nothing befalls anyone. */
  setShares(shares: FaultShares): void;
  /** Sets what befalls the next calls, one each, whatever the chances are; `affects` picks the calls. */
  planFaults(faults: readonly FaultKind[], affects?: (call: ProxiedCall) => boolean): void;
  /** How many planned faults have not befallen anyone yet. */
  planned(): number;
  /** Ends all connections, those of calls that wait for an answer among them. */
  cutAll(): void;
  /** Stops listening and ends all connections. */
  close(): Promise<void>;
}

interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Headers that belong to one connection and are not passed on. */
const HOP_HEADERS = ['connection', 'expect', 'keep-alive', 'transfer-encoding'];

function passedHeaders(headers: IncomingMessage['headers'], body: Buffer): Record<string, string | string[]> {
  const passed = Object.entries(headers).filter(([name, value]) => value !== undefined && !HOP_HEADERS.includes(name));
  // Those that are undefined have just been left out. The host stays as the client wrote it: signatures cover it.
  const given = Object.fromEntries(passed) as Record<string, string | string[]>;
  // The answer to HEAD names a length and has no body.
  return body.length === 0 ? given : { ...given, 'content-length': `${body.length}` };
}

/** Picks faults: first what is planned, then by chance. */
function createFaultPicker(seed: number) {
  const random = createSeededRandom(seed);
  let shares: FaultShares = {};
  let planned: FaultKind[] = [];
  let isAffected: (call: ProxiedCall) => boolean = () => true;
  return {
    random,
    setShares(given: FaultShares) {
      shares = given;
    },
    plan(faults: readonly FaultKind[], affects: (call: ProxiedCall) => boolean) {
      planned = [...faults];
      isAffected = affects;
    },
    planned: () => planned.length,
    pick(call: ProxiedCall): FaultKind | undefined {
      if (planned.length > 0 && isAffected(call)) return planned.shift();
      let chance = random();
      for (const kind of FAULT_KINDS) {
        const share = shares[kind] ?? 0;
        if (chance < share) return kind;
        chance -= share;
      }
      return undefined;
    },
  };
}

function send(response: ServerResponse, { status, headers, body }: UpstreamAnswer | FaultAnswer): void {
  response.writeHead(status, passedHeaders(headers, Buffer.from(body))).end(body);
}

/** Sends the head and half of the body. */
function sendHalf(response: ServerResponse, { status, headers, body }: UpstreamAnswer): Promise<void> {
  response.writeHead(status, passedHeaders(headers, body));
  response.flushHeaders();
  return new Promise((resolve) => response.write(body.subarray(0, Math.floor(body.length / 2)), () => resolve()));
}

/** The act of each fault; `forward` has the upstream do the call. */
function createFaultActs(answers: FaultAnswers, maxDelay: () => number) {
  type Act = (response: ServerResponse, forward: () => Promise<UpstreamAnswer>) => Promise<void>;
  const pass: Act = async (response, forward) => send(response, await forward());
  const acts: Readonly<Record<FaultKind | 'passed', Act>> = {
    passed: pass,
    async delay(response, forward) {
      await pause(maxDelay());
      await pass(response, forward);
    },
    cutBefore: async (response) => void response.destroy(),
    async cutAfter(response, forward) {
      await forward();
      response.destroy();
    },
    async cutInAnswer(response, forward) {
      await sendHalf(response, await forward());
      response.destroy();
    },
    stallInAnswer: async (response, forward) => await sendHalf(response, await forward()),
    stallBefore: async () => undefined,
    async stallAfter(_, forward) {
      await forward();
    },
    throttle: async (response) => send(response, answers.throttle),
    serverError: async (response) => send(response, answers.serverError),
    async serverErrorAfter(response, forward) {
      await forward();
      send(response, answers.serverError);
    },
    unavailable: async (response) => send(response, answers.unavailable),
  };
  return acts;
}

/** Has the upstream do a call. */
async function forwardCall(
  upstream: URL,
  agent: Agent,
  { method, url, headers, body }: ProxiedCall,
): Promise<UpstreamAnswer> {
  const { hostname, port } = upstream;
  const outgoing = request({ hostname, port, agent, method, path: url, headers: passedHeaders(headers, body) });
  outgoing.end(body);
  // `response` comes with the message that answers.
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode ?? 502, headers: incoming.headers, body: await buffer(incoming) };
}

/**
 * Starts a proxy on 127.0.0.1 that passes calls on to an upstream, or does to them what befalls calls on bad days. An upstream
 * that does not answer is a cut line.
 *
 * @returns the running proxy, at first without any faults
 */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const upstream = new URL(options.upstream);
  const picker = createFaultPicker(options.seed ?? 1);
  const acts = createFaultActs(
    FAULT_ANSWERS[options.answers ?? 'http'],
    () => picker.random() * (options.maxDelayMs ?? 50),
  );
  const counts: Record<FaultKind | 'passed', number> = { passed: 0, ...zeroCounts() };
  const agent = new Agent({ keepAlive: true });

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const call = { method: incoming.method ?? 'GET', url: incoming.url ?? '/', headers: incoming.headers, body };
    const kind = picker.pick(call) ?? 'passed';
    counts[kind]++;
    await acts[kind](response, () => forwardCall(upstream, agent, call));
  }

  const proxy = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  const server = await listenOnLoopback(proxy);
  const close = async () => {
    await server.close();
    agent.destroy();
  };
  return {
    url: server.url,
    counts,
    setShares: picker.setShares,
    planFaults: (faults, affects = () => true) => picker.plan(faults, affects),
    planned: picker.planned,
    cutAll: () => proxy.closeAllConnections(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function zeroCounts(): Record<FaultKind, number> {
  // Every kind is named once.
  return Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<FaultKind, number>;
}

/** An answer that the proxy makes up itself. */
interface FaultAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a service says that it refuses a call. */
type FaultAnswers = Readonly<Record<'throttle' | 'serverError' | 'unavailable', FaultAnswer>>;

const dynamoAnswer = (status: number, type: string): FaultAnswer => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'a fault made on purpose' }),
});

const s3Answer = (status: number, code: string): FaultAnswer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>A fault made on purpose</Message></Error>`,
});

const httpAnswer = (status: number, headers: Record<string, string> = {}): FaultAnswer => ({
  status,
  headers: { 'content-type': 'text/plain', ...headers },
  body: 'a fault made on purpose',
});

/**
 * Refusals in the words of the services that the gateway depends on.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
const FAULT_ANSWERS = {
  dynamodb: {
    throttle: dynamoAnswer(400, 'ProvisionedThroughputExceededException'),
    serverError: dynamoAnswer(500, 'InternalServerError'),
    unavailable: dynamoAnswer(503, 'ServiceUnavailable'),
  },
  s3: {
    throttle: s3Answer(503, 'SlowDown'),
    serverError: s3Answer(500, 'InternalError'),
    unavailable: s3Answer(503, 'ServiceUnavailable'),
  },
  http: {
    throttle: httpAnswer(429, { 'retry-after': '1' }),
    serverError: httpAnswer(500),
    unavailable: httpAnswer(503),
  },
} as const satisfies Record<string, FaultAnswers>;
