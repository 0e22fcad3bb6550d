/**
 * `Headers`, `Request` and `Response` as our programs use them. Those of Node cost more than all else in a call of the simulated network,
 * for they are made for bodies that come piece by piece from a socket; here each is there from the beginning.
 */

type Body = string | Uint8Array<ArrayBuffer> | null;
type Pairs = Iterable<readonly [string, string]>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Names in lower case, and one value each. */
class LeanHeaders implements Iterable<[string, string]> {
  readonly #values = new Map<string, string>();

  constructor(given: unknown = {}) {
    const pairs: Pairs = isIterable(given) ? given : Object.entries(given as Record<string, string>);
    for (const [name, value] of pairs) this.append(name, value);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }
  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }
  set(name: string, value: unknown): void {
    this.#values.set(name.toLowerCase(), `${value}`.trim());
  }
  append(name: string, value: unknown): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }
  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }
  forEach(visit: (value: string, name: string) => void): void {
    for (const [name, value] of this) visit(value, name);
  }
  entries(): MapIterator<[string, string]> {
    return this.#values.entries();
  }
  keys(): MapIterator<string> {
    return this.#values.keys();
  }
  values(): MapIterator<string> {
    return this.#values.values();
  }
  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#values.entries();
  }
}

const isIterable = (given: unknown): given is Pairs =>
  typeof given === 'object' && given !== null && Symbol.iterator in given;

/** A body that can be read in every way, all of it in one piece. */
class LeanBody {
  readonly #body: Body;
  #isUsed = false;

  constructor(body: unknown) {
    if (body instanceof ArrayBuffer) this.#body = new Uint8Array(body);
    else if (body === null || body === undefined || typeof body === 'string') this.#body = body ?? null;
    else if (body instanceof Uint8Array) this.#body = body as Uint8Array<ArrayBuffer>;
    else if (body instanceof LeanStream) this.#body = body.bytes;
    else throw new TypeError('The simulated network takes texts and bytes.');
  }

  /** The whole of it, at once. */
  get whole(): Body {
    return this.#body;
  }
  get bodyUsed(): boolean {
    return this.#isUsed;
  }
  get body(): LeanStream | null {
    return this.#body === null ? null : new LeanStream(this.#take());
  }
  async text(): Promise<string> {
    this.#isUsed = true;
    return typeof this.#body === 'string' ? this.#body : decoder.decode(this.#body ?? undefined);
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = this.#take();
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  }
  async bytes(): Promise<Uint8Array> {
    return this.#take();
  }

  #take(): Uint8Array<ArrayBuffer> {
    this.#isUsed = true;
    return typeof this.#body === 'string' ? encoder.encode(this.#body) : (this.#body ?? new Uint8Array(0));
  }
}

/** A stream of one piece. */
class LeanStream {
  readonly bytes: Uint8Array<ArrayBuffer>;
  #isRead: boolean;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.bytes = bytes;
    this.#isRead = bytes.byteLength === 0;
  }

  async cancel(): Promise<void> {
    this.#isRead = true;
  }
  getReader() {
    return {
      read: async () => {
        if (this.#isRead) return { done: true, value: undefined };
        this.#isRead = true;
        return { done: false, value: this.bytes };
      },
      cancel: () => this.cancel(),
      releaseLock: () => undefined,
    };
  }
  async *[Symbol.asyncIterator]() {
    const { done, value } = await this.getReader().read();
    if (!done) yield value;
  }
}

interface RequestParts {
  readonly method?: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null;
}

/** One that nobody gives up. */
const NEVER = new AbortController().signal;

class LeanRequest extends LeanBody {
  readonly url: string;
  readonly method: string;
  readonly signal: AbortSignal;
  readonly #given: unknown;
  #headers: LeanHeaders | undefined;

  constructor(input: unknown, init: RequestParts = {}) {
    const from = input instanceof LeanRequest ? input : undefined;
    super(init.body ?? from?.whole);
    this.url = from?.url ?? String(input);
    this.method = (init.method ?? from?.method ?? 'GET').toUpperCase();
    this.signal = init.signal ?? from?.signal ?? NEVER;
    this.#given = init.headers ?? from?.headers;
  }

  /** Made when it is asked for: many only hand it on. */
  get headers(): LeanHeaders {
    this.#headers ??= new LeanHeaders(this.#given);
    return this.#headers;
  }
}

interface ResponseParts {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: unknown;
}

class LeanResponse extends LeanBody {
  readonly status: number;
  readonly statusText: string;
  readonly headers: LeanHeaders;

  constructor(body?: unknown, { status = 200, statusText = '', headers }: ResponseParts = {}) {
    super(body);
    this.status = status;
    this.statusText = statusText;
    this.headers = headers instanceof LeanHeaders ? headers : new LeanHeaders(headers);
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }
  static json(value: unknown, parts: ResponseParts = {}): LeanResponse {
    const headers = new LeanHeaders(parts.headers);
    headers.set('content-type', 'application/json');
    return new LeanResponse(JSON.stringify(value), { ...parts, headers });
  }
}

/** The whole body of a request or response, without waiting for it. */
export const wholeBody = (message: Request | Response): Body => (message as unknown as LeanBody).whole;

/** The same as text. */
export function readWhole(message: Request | Response): string {
  const body = wholeBody(message);
  return typeof body === 'string' ? body : decoder.decode(body ?? undefined);
}

/** Puts them in place of Node's. @returns puts Node's back */
export function installWeb(): () => void {
  const { Headers, Request, Response } = globalThis;
  Object.assign(globalThis, { Headers: LeanHeaders, Request: LeanRequest, Response: LeanResponse });
  return () => void Object.assign(globalThis, { Headers, Request, Response });
}
