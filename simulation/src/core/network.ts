import type { EventLog } from './eventLog.ts';
import { currentProcess, runAs, type SimProcess } from './processes.ts';
import type { Random } from './random.ts';

/** An HTTP call as it travels. */
export interface NetworkCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | null;
  /** Name of the machine that calls. */
  readonly from: string;
}

export type NetworkHandler = (call: NetworkCall) => Response | Promise<Response>;

/** What happens to one message. */
export interface Fate {
  /** Milliseconds until it arrives. */
  readonly delayMs: number;
  /** `lost`: nobody hears of it; `reset`: the caller is told at once that the connection broke. */
  readonly end?: 'lost' | 'reset';
}

/** What happens to a call: its question and its answer, and whether the question arrives twice. */
export interface CallFate {
  readonly question: Fate;
  readonly answer: Fate;
  readonly isDoubled: boolean;
}

/** Decides what happens to a call. */
export type ChooseFate = (call: { readonly from: string; readonly to: string; readonly random: Random }) => CallFate;

export interface Network {
  /** The `fetch` of the process whose code calls. */
  readonly fetch: typeof globalThis.fetch;
  /** Lets a process answer for `host:port`. @returns ends it */
  listen(address: string, handler: NetworkHandler): () => void;
  /** Has each call's fate chosen from now on. */
  setFate(choose: ChooseFate): void;
}

/** What Node's `fetch` throws. */
function networkError(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
}

/** Texts and bytes, which is what our programs send, cost nothing to read. */
async function readBody(
  given: RequestInit['body'],
  request: Request | undefined,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (typeof given === 'string') return new TextEncoder().encode(given);
  if (given instanceof Uint8Array) return new Uint8Array(given);
  if (given !== null && given !== undefined) return new Uint8Array(await new Response(given).arrayBuffer());
  return request === undefined || request.body === null ? null : new Uint8Array(await request.arrayBuffer());
}

/** A calm network on one continent: some milliseconds each way. */
export const calmFate: ChooseFate = ({ random }) => ({
  question: { delayMs: random.between(1, 20) },
  answer: { delayMs: random.between(1, 20) },
  isDoubled: false,
});

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const PAYMENT = /\bpi_[A-Za-z0-9_]+/g;
/** Ids are looked for in bodies up to this length. */
const SCANNED_CHARACTERS = 20_000;

/** More ids than these are a list, which is nobody's story. */
const MOST_IDS = 4;

/** Ids of requests and payments that a call is about. */
function findIds(...texts: readonly string[]): readonly string[] {
  const ids = new Set<string>();
  for (const text of texts) {
    const start = text.slice(0, SCANNED_CHARACTERS);
    for (const [id] of [...start.matchAll(UUID), ...start.matchAll(PAYMENT)]) ids.add(id);
    if (ids.size > MOST_IDS) return [];
  }
  return [...ids];
}

/**
 * Makes the network between the processes of the world: each call is a message with a fate of its own.
 *
 * @param options.after - has the world do something later, in milliseconds
 */
export function createNetwork(options: {
  readonly random: Random;
  readonly log: EventLog;
  readonly after: (delayMs: number, work: () => void) => void;
}): Network {
  const { random, log, after } = options;
  const servers = new Map<string, { readonly process: SimProcess | undefined; readonly handler: NetworkHandler }>();
  let chooseFate = calmFate;
  const decoder = new TextDecoder();

  /** Delivers a call to its server, as that server's own work. */
  function deliver(to: string, call: NetworkCall): Promise<Response> | undefined {
    const server = servers.get(to);
    if (server === undefined || server.process?.isAlive === false) return undefined;
    return runAs(server.process, async () => await server.handler(call));
  }

  function send(call: NetworkCall, to: string): Promise<Response> {
    const caller = currentProcess();
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const fate = chooseFate({ from: call.from, to, random });
    const { pathname, search } = new URL(call.url);
    // Calls to nodes are too many to tell, and looks of the world's own at records tell nothing.
    const isQuiet = to.startsWith('node-') || (call.from === 'world' && call.method === 'GET');
    const sentText = call.body === null || isQuiet ? '' : decoder.decode(call.body);
    const line = `${call.method} ${pathname}${search}`;
    function answer(settle: () => void): void {
      if (caller?.isAlive !== false) settle();
    }
    function arrive(): void {
      const carried = deliver(to, call);
      if (carried === undefined) {
        after(1, () => answer(() => reject(networkError('ECONNREFUSED'))));
        return;
      }
      carried.then(
        async (response) => {
          const bytes = new Uint8Array(await response.arrayBuffer());
          const { status } = response;
          const text = isQuiet ? '' : decoder.decode(bytes);
          const end = fate.answer.end === undefined ? '' : ` (answer ${fate.answer.end})`;
          if (!isQuiet) {
            log.add({
              kind: 'message',
              who: `${call.from}→${to}`,
              text: `${line} ${status}${end}`,
              about: findIds(line, sentText, text),
            });
          }
          if (fate.answer.end === 'lost') return;
          after(fate.answer.delayMs, () =>
            answer(() => {
              if (fate.answer.end === 'reset') return reject(networkError('ECONNRESET'));
              resolve(
                new Response(status === 204 || status === 304 ? null : bytes, { status, headers: response.headers }),
              );
            }),
          );
        },
        // A server that dies in the middle of its work.
        () => after(fate.answer.delayMs, () => answer(() => reject(networkError('ECONNRESET')))),
      );
    }
    const { question } = fate;
    if (question.end !== undefined) {
      log.add({
        kind: 'message',
        who: `${call.from}→${to}`,
        text: `${line} (question ${question.end})`,
        about: findIds(line, sentText),
      });
      if (question.end === 'reset') after(question.delayMs, () => answer(() => reject(networkError('ECONNRESET'))));
      return promise;
    }
    after(question.delayMs, arrive);
    if (fate.isDoubled) {
      after(question.delayMs + random.between(1, 500), () => {
        log.add({
          kind: 'message',
          who: `${call.from}→${to}`,
          text: `${line} (arrives again)`,
          about: findIds(line, sentText),
        });
        deliver(to, call)?.catch(() => undefined);
      });
    }
    return promise;
  }

  return {
    async fetch(input, init = {}) {
      const request = input instanceof Request ? input : undefined;
      const url = new URL(request?.url ?? String(input));
      const signal = init.signal ?? request?.signal;
      signal?.throwIfAborted();
      const method = init.method ?? request?.method ?? 'GET';
      const headers = new Headers(init.headers ?? request?.headers);
      const body = await readBody(init.body ?? null, request);
      const from = currentProcess()?.host ?? 'world';
      const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
      const answered = send({ method, url: url.href, headers, body, from }, `${url.hostname}:${port}`);
      if (signal === undefined || signal === null) return await answered;
      return await new Promise<Response>((resolve, reject) => {
        const abort = () => reject(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        answered.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
      });
    },
    listen(address, handler) {
      const process = currentProcess();
      const server = { process, handler };
      servers.set(address, server);
      const close = () => {
        if (servers.get(address) === server) servers.delete(address);
      };
      process?.closers.add(close);
      return close;
    },
    setFate(choose) {
      chooseFate = choose;
    },
  };
}
