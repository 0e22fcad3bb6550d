import { type GatewayError, readRetryAfter, unexpectedAnswer } from '../errors/gatewayError.ts';
import { definedOf } from './definedOf.ts';
import { type Bytes, fetchOnce, type HttpContext } from './fetchOnce.ts';
import { DEFAULT_RETRY_POLICY, isTransient, type RetryContext, type RetryPolicy, withRetries } from './withRetries.ts';

/** Longest wait for one answer, in milliseconds: a little more than the 29 s that the gateway gives itself. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** The longest wait that the gateway allows a call. */
const LONGEST_WAIT_SECONDS = 25;
/** A browser opens six connections to a host: some are left for what does not wait. */
const MOST_WAITS = 'document' in globalThis ? 4 : 10_000;

/** More than the longest page or whitelist that a gateway sends. */
const MOST_ANSWER_BYTES = 2 ** 26;

/** Options of every client. */
export interface TransportOptions {
  /** Where the gateway is, like `https://gateway.example/prod`; a base path is kept. */
  readonly url: string;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Bounds of repeats; what is absent stays at its default. */
  readonly retry?: { readonly [K in keyof RetryPolicy]?: RetryPolicy[K] | undefined } | undefined;
  /** Longest wait for one answer, in milliseconds; default 30000. */
  readonly timeoutMs?: number | undefined;
  /** @returns Unix time in milliseconds; default `Date.now` */
  readonly now?: (() => number) | undefined;
  /** @returns from 0 to 1, for jitter; default `Math.random` */
  readonly random?: (() => number) | undefined;
}

/** A call as it goes out: what relayer auth signs. */
export interface OutgoingCall {
  readonly method: string;
  /** As the service routes it: without query and base path. */
  readonly path: string;
  /** The raw bytes; empty if there is no body. */
  readonly body: Uint8Array;
}

/** A call to the gateway. */
export interface GatewayCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Further headers, made anew for each attempt. */
  readonly makeHeaders?: ((call: OutgoingCall) => Promise<Record<string, string>>) | undefined;
  /**
   * `freely`: doing it twice is doing it once. `ifUnsent`: repeated only if the gateway has surely not done it (429, or no
   * connection); else the error's `mayHaveHappened` is true.
   */
  readonly repeat: 'freely' | 'ifUnsent';
  /** Called with when to ask again, in milliseconds, by an answer that says so: the gateway lets no call wait. */
  readonly onAskAgain?: ((afterMs: number | undefined) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Calls that wait at the gateway until something has happened. */
export interface Waits {
  /** Those under way. */
  open: number;
  /** Most at once. */
  readonly most: number;
  /** For how long one may wait, in seconds: less than any answer may take; 0 = not at all. */
  readonly seconds: number;
}

/** How clients speak to a gateway. */
export interface Transport extends HttpContext, RetryContext {
  /** Without a trailing slash. */
  readonly url: string;
  readonly timeoutMs: number;
  /** Whatever waits at the gateway takes its turn here, if connections are few. */
  readonly waits: Waits;
  /** @returns the answer's JSON @throws GatewayError */
  call(call: GatewayCall): Promise<unknown>;
}

function writeQuery(query: GatewayCall['query'] = {}): string {
  // Numbers become text there.
  const search = new URLSearchParams(definedOf(query) as Record<string, string>);
  return search.size === 0 ? '' : `?${search}`;
}

function parseAnswer(what: string, body: Bytes): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    throw unexpectedAnswer(what, 'JSON', cause);
  }
}

async function attemptCall(transport: Omit<Transport, 'call' | 'waits'>, call: GatewayCall): Promise<unknown> {
  const { method, path, signal } = call;
  const what = `${method} ${path}`;
  const body = call.body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(call.body));
  const answer = await fetchOnce(transport, {
    what,
    url: `${transport.url}${path}${writeQuery(call.query)}`,
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(await call.makeHeaders?.({ method, path, body: body ?? new Uint8Array(0) })),
    },
    body,
    mostBytes: MOST_ANSWER_BYTES,
    timeoutMs: transport.timeoutMs,
    signal,
  });
  call.onAskAgain?.(readRetryAfter(answer.headers.get('retry-after'), transport.now()));
  return parseAnswer(what, answer.body);
}

/**
 * Makes the way to a gateway: one call, its repeats, and its failures as `GatewayError`.
 *
 * @param options - see each field
 */
export function createTransport(options: TransportOptions): Transport {
  const base = {
    url: options.url.replace(/\/+$/, ''),
    // Browsers refuse to have fetch called as another object's method.
    fetch: options.fetch ?? ((input: string | URL | Request, init?: RequestInit) => globalThis.fetch(input, init)),
    policy: { ...DEFAULT_RETRY_POLICY, ...definedOf(options.retry ?? {}) },
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
  };
  const waits = {
    open: 0,
    most: MOST_WAITS,
    seconds: Math.min(LONGEST_WAIT_SECONDS, Math.floor(base.timeoutMs / 1250)),
  };
  return {
    ...base,
    waits,
    call(call) {
      const { method, path, signal, repeat } = call;
      const canRepeat = (error: GatewayError) => isTransient(error) && (repeat === 'freely' || !error.mayHaveHappened);
      return withRetries(base, { what: `${method} ${path}`, signal, canRepeat }, () => attemptCall(base, call));
    },
  };
}
