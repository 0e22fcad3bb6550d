/**
 * Stand-ins for the web platform's `Headers` and `Response`, with as much of them as the gateway uses. Node loads its own on
 * first use, which takes longer than importing the whole bundle; the bundler puts these in the place of the globals.
 *
 * @see https://fetch.spec.whatwg.org/
 */

type HeadersInit = Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

/** Header fields by name, in any letter case. */
export class Headers {
  readonly #values = new Map<string, string>();

  constructor(init: HeadersInit = {}) {
    for (const [name, value] of Symbol.iterator in init ? init : Object.entries(init)) this.append(name, value);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value.trim());
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    // The platform trims each value, and not what they come to together.
    if (before === null) this.set(name, value);
    else this.#values.set(name.toLowerCase(), `${before}, ${value.trim()}`);
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#values.entries();
  }
}

type Body = string | Uint8Array | null;

/** An answer whose body is at hand. */
export class Response {
  readonly status: number;
  readonly headers: Headers;
  readonly #body: Body;

  constructor(body: Body = null, init: { readonly status?: number; readonly headers?: HeadersInit } = {}) {
    this.#body = body;
    this.status = init.status ?? 200;
    this.headers = new Headers(init.headers);
  }

  async text(): Promise<string> {
    return typeof this.#body === 'string' ? this.#body : Buffer.from(this.#body ?? '').toString();
  }

  async bytes(): Promise<Uint8Array> {
    return Buffer.from(this.#body ?? '');
  }
}

interface RequestFacts {
  readonly method: string;
  readonly url: string;
  readonly headers: HeadersInit;
}

/**
 * Makes a request without a body: what came with the event is handed over beside it.
 *
 * @param facts - its URL absolute
 */
export function createRequest({ method, url, headers }: RequestFacts): Request {
  // A function does not learn when its caller goes away.
  const { signal } = new AbortController();
  const request = { method, url, headers: new Headers(headers), signal };
  // The gateway asks a request whose body is at hand for these fields only.
  return request as unknown as Request;
}
