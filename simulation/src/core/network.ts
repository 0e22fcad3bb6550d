import type { EventLog } from './eventLog.ts';
import { currentProcess, runAs, type SimProcess, whenRunning } from './processes.ts';
import type { Random } from './random.ts';
import { readWhole } from './web.ts';

/** An HTTP call as it travels. */
export interface NetworkCall {
  readonly request: Request;
  /** Name of the machine that calls. */
  readonly from: string;
}

export type NetworkHandler = (call: NetworkCall) => Response | Promise<Response>;

/** Watches the calls that arrive at a server. @returns called with the answer as it leaves; never if the server dies */
export type Observer = (call: NetworkCall) => ((answer: Response) => void) | undefined;

/** The fate of one message. */
export interface Fate {
  /** Milliseconds until it arrives. */
  readonly delayMs: number;
  /** `lost`: nobody hears of it; `reset`: the caller learns at once that the connection broke. */
  readonly end?: 'lost' | 'reset';
}

/** The fate of a call: its question and its answer, and whether the question arrives twice. */
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
  /** Has what arrives at `host:port` watched. */
  observe(address: string, observer: Observer): void;
  /** Has each call's fate chosen from now on. */
  setFate(choose: ChooseFate): void;
}

/** The error of Node's `fetch`. */
function networkError(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
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
    for (const pattern of [UUID, PAYMENT]) {
      for (const [id] of start.matchAll(pattern)) if (ids.add(id).size > MOST_IDS) return [];
    }
  }
  return [...ids];
}

/** Parts of an absolute URL; the platform's own parser takes as long as all else in a call. */
function splitUrl(url: string): { readonly to: string; readonly pathname: string; readonly search: string } {
  const [, scheme = '', host = '', pathname = '/', search = ''] =
    /^(https?):\/\/([^/?#]+)([^?#]*)([^#]*)/.exec(url) ?? [];
  const to = host.includes(':') ? host : `${host}:${scheme === 'https' ? '443' : '80'}`;
  return { to, pathname: pathname || '/', search };
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
  const observers = new Map<string, Observer>();
  let chooseFate = calmFate;

  /** Delivers a call to its server, as that server's own work. */
  function deliver(to: string, call: NetworkCall): Promise<Response> | undefined {
    const server = servers.get(to);
    if (server === undefined || server.process?.isAlive === false) return undefined;
    const observe = observers.get(to)?.(call);
    return new Promise((resolve, reject) => {
      whenRunning(server.process, () => {
        runAs(server.process, async () => {
          const answer = await server.handler(call);
          observe?.(answer);
          return answer;
        }).then(resolve, reject);
      });
    });
  }

  function send(call: NetworkCall): Promise<Response> {
    const caller = currentProcess();
    const { request, from } = call;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const { to, pathname, search } = splitUrl(request.url);
    const fate = chooseFate({ from, to, random });
    // Calls to nodes are too many to list, and looks of the world's own at records show nothing.
    const isQuiet = to.startsWith('node-') || (from === 'world' && request.method === 'GET');
    const sentText = isQuiet ? '' : readWhole(request);
    const line = `${request.method} ${pathname}${search}`;
    // A call that reads a request names it in its path; lists are nobody's story.
    const isReading = request.method === 'GET' && pathname.startsWith('/requests');
    function answer(settle: () => void): void {
      whenRunning(caller, () => void (caller?.isAlive !== false && settle()));
    }
    function arrive(): void {
      const carried = deliver(to, call);
      if (carried === undefined) {
        after(1, () => answer(() => reject(networkError('ECONNREFUSED'))));
        return;
      }
      carried.then(
        (response) => {
          const end = fate.answer.end === undefined ? '' : ` (answer ${fate.answer.end})`;
          if (!isQuiet) {
            log.add({
              kind: 'message',
              who: `${from}→${to}`,
              text: `${line} ${response.status}${end}`,
              about: isReading ? findIds(line) : findIds(line, sentText, readWhole(response)),
            });
          }
          if (fate.answer.end === 'lost') return;
          after(fate.answer.delayMs, () =>
            answer(() => {
              if (fate.answer.end === 'reset') return reject(networkError('ECONNRESET'));
              resolve(response);
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
        who: `${from}→${to}`,
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
          who: `${from}→${to}`,
          text: `${line} (arrives again)`,
          about: findIds(line, sentText),
        });
        deliver(to, call)?.catch(() => undefined);
      });
    }
    return promise;
  }

  return {
    async fetch(input, init) {
      const request = new Request(input, init);
      const { signal } = request;
      signal.throwIfAborted();
      const answered = send({ request, from: currentProcess()?.host ?? 'world' });
      if (init?.signal === undefined || init.signal === null) return await answered;
      return await new Promise<Response>((resolve, reject) => {
        const abort = () => reject(signal.reason);
        signal.addEventListener('abort', abort);
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
    observe: (address, observer) => void observers.set(address, observer),
    setFate(choose) {
      chooseFate = choose;
    },
  };
}
