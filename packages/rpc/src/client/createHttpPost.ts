import { HttpRequestError, ResponseBodyTooLargeError } from 'viem';
import { getHttpRpcClient } from 'viem/utils';
import { RpcUnavailableError } from '../rpcErrors.ts';

/** A call as it goes over the wire. */
export interface WireCall {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * Posts one call, or a batch of them.
 *
 * @returns the answer's JSON, not looked at
 * @throws RpcUnavailableError
 */
export type HttpPost = (body: WireCall | readonly WireCall[]) => Promise<unknown>;

/** A receipt with many logs is some 100 kB; a batch of them stays below this. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const TOO_MANY_REQUESTS = 429;
const SERVICE_UNAVAILABLE = 503;

/** Credentials of the URL go into a header: `fetch` refuses them, and viem overlooks a password without a name. */
function splitCredentials(rpcUrl: string): { url: string; headers: Record<string, string> } {
  const url = new URL(rpcUrl);
  const { username, password } = url;
  if (username === '' && password === '') return { url: rpcUrl, headers: {} };
  url.username = '';
  url.password = '';
  const given = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { url: url.href, headers: { Authorization: `Basic ${given.toString('base64')}` } };
}

/** What viem and `fetch` say, less the URL, which may hold a key. */
function plainFault(error: unknown): RpcUnavailableError {
  if (error instanceof ResponseBodyTooLargeError) {
    const reason = `the answer is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`;
    return new RpcUnavailableError(reason, { code: 'RPC_ANSWER_TOO_LARGE' });
  }
  const { cause, status } = error instanceof HttpRequestError ? error : { cause: error, status: undefined };
  if (cause instanceof RpcUnavailableError) return cause;
  if (status !== undefined) return new RpcUnavailableError(`HTTP status ${status}`, { status });
  if (cause instanceof SyntaxError) return new RpcUnavailableError('the answer is not JSON');
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  if (!(inner instanceof Error)) return new RpcUnavailableError('no answer');
  return new RpcUnavailableError(
    `no answer (${'code' in inner && typeof inner.code === 'string' ? inner.code : inner.name})`,
  );
}

/**
 * Makes posts to a node over HTTP, by viem's client: it bounds what is read, and takes an error of JSON-RPC whatever the status.
 *
 * @param options.rpcUrl - `http(s)://…`; it appears in no error
 * @param options.timeoutMs - for the whole exchange
 * @param options.signal - ends all that is on its way
 */
export function createHttpPost(options: {
  readonly rpcUrl: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}): HttpPost {
  const { url, headers } = splitCredentials(options.rpcUrl);

  async function refuseBusy(response: Response): Promise<void> {
    const { status } = response;
    if (status !== TOO_MANY_REQUESTS && status !== SERVICE_UNAVAILABLE) return;
    await response.body?.cancel();
    throw new RpcUnavailableError(`HTTP status ${status}`, { status, retryAfterMs: readRetryAfter(response.headers) });
  }

  const http = getHttpRpcClient(url, {
    maxResponseBodySize: MAX_ANSWER_BYTES,
    onResponse: refuseBusy,
    // Its own timeout ends with the answer's headers; the signal below bounds the body, too.
    timeout: 0,
  });
  return async function post(body) {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), options.timeoutMs);
    const signal = AbortSignal.any([options.signal, timeout.signal]);
    try {
      // viem's type of a body wants lists that may be written to.
      return await http.request({
        body: body as WireCall & { params: unknown[] },
        fetchOptions: { headers, redirect: 'error', signal },
      });
    } catch (error) {
      if (options.signal.aborted) throw new RpcUnavailableError('closed');
      if (timeout.signal.aborted) throw new RpcUnavailableError(`no answer within ${options.timeoutMs} ms`);
      throw plainFault(error);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The longest that a node is left alone for, whatever it asks, in milliseconds. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Reads how long a server asks to be left alone: seconds, or a date, which is compared with the server's own clock.
 *
 * @returns milliseconds, a minute at most; undefined when it does not say
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}
