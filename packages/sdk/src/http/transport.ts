import { errorFromAnswer } from '../errors/fromAnswer.ts';
import { abortedError, errorFromFailure } from '../errors/fromFailure.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './retryPolicy.ts';
import { isTransient, withRetries } from './withRetries.ts';

/** Longest wait for one answer, in milliseconds: a little more than the 29 s that the gateway gives itself. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** What can be set for every client. */
export interface TransportOptions {
  /** Where the gateway is, like `https://gateway.example/prod`; a base path is kept. */
  readonly url: string;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Bounds of repeats; what is absent stays at its default. */
  readonly retry?: Partial<RetryPolicy> | undefined;
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
  /** The raw bytes; empty where there is no body. */
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
   * `freely`: doing it twice is doing it once. `ifUnsent`: repeated only where the gateway has surely not done it (429, or no
   * connection); else the error's `mayHaveHappened` is true.
   */
  readonly repeat: 'freely' | 'ifUnsent';
  readonly signal?: AbortSignal | undefined;
}

/** How clients speak to a gateway. */
export interface Transport {
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  readonly policy: RetryPolicy;
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly random: () => number;
  /** @returns the answer's JSON @throws GatewayError */
  call(call: GatewayCall): Promise<unknown>;
}

const NO_BYTES = new Uint8Array(0);

function writeQuery(query: GatewayCall['query']): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}

/**
 * Joins a caller's signal with the time limit of one attempt.
 *
 * @param timeoutMs - milliseconds
 */
export function limitAttempt(timeoutMs: number, signal?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}

function parseAnswer(what: string, status: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `${what} was answered with ${status}, but not with JSON. Is this the URL of a gateway?`;
    throw new GatewayError({ code: 'UNEXPECTED_ANSWER', message, status, mayHaveHappened: true, cause });
  }
}

async function attemptCall(transport: Omit<Transport, 'call'>, call: GatewayCall): Promise<unknown> {
  const { method, path, signal } = call;
  const what = `${method} ${path}`;
  const body = call.body === undefined ? NO_BYTES : new TextEncoder().encode(JSON.stringify(call.body));
  const headers = {
    ...(call.body !== undefined && { 'content-type': 'application/json' }),
    ...(await call.makeHeaders?.({ method, path, body })),
  };
  // Signing may have taken a person's time.
  if (signal?.aborted) throw abortedError(what, signal, false);
  try {
    const response = await transport.fetch(`${transport.url}${path}${writeQuery(call.query)}`, {
      method,
      headers,
      ...(call.body !== undefined && { body }),
      signal: limitAttempt(transport.timeoutMs, signal),
      // A redirect would carry keys and signatures to another host.
      redirect: 'error',
      credentials: 'omit',
    });
    const text = await response.text();
    if (!response.ok) throw errorFromAnswer({ what, response, text, nowMs: transport.now() });
    return parseAnswer(what, response.status, text);
  } catch (failure) {
    throw errorFromFailure(failure, { what, signal });
  }
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
    policy: { ...DEFAULT_RETRY_POLICY, ...options.retry },
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
  };
  return {
    ...base,
    call(call) {
      const context = {
        policy: base.policy,
        random: base.random,
        what: `${call.method} ${call.path}`,
        signal: call.signal,
        canRepeat: (error: GatewayError) => isTransient(error) && (call.repeat === 'freely' || !error.mayHaveHappened),
      };
      return withRetries(context, () => attemptCall(base, call));
    },
  };
}
