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

/** Credentials of the URL go into a header: `fetch` refuses them. */
function splitCredentials(rpcUrl: string): { url: string; headers: Record<string, string> } {
  const url = new URL(rpcUrl);
  const { username, password } = url;
  if (username === '' && password === '') return { url: rpcUrl, headers: {} };
  url.username = '';
  url.password = '';
  const given = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { url: url.href, headers: { Authorization: `Basic ${given.toString('base64')}` } };
}

/** The error of `fetch` without the URL, which may hold a key. */
function plainFault(error: unknown): RpcUnavailableError {
  if (error instanceof RpcUnavailableError) return error;
  if (error instanceof SyntaxError) return new RpcUnavailableError('the answer is not JSON');
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(inner instanceof Error)) return new RpcUnavailableError('no answer');
  return new RpcUnavailableError(
    `no answer (${'code' in inner && typeof inner.code === 'string' ? inner.code : inner.name})`,
  );
}

/** Reads a body that is no longer than it may be. @throws RpcUnavailableError `RPC_ANSWER_TOO_LARGE` */
async function readBody({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    bytes += next.value.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader?.cancel();
      const reason = `the answer is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`;
      throw new RpcUnavailableError(reason, { code: 'RPC_ANSWER_TOO_LARGE' });
    }
    text += decoder.decode(next.value, { stream: true });
  }
  return text + decoder.decode();
}

/** Whether an answer is an error of JSON-RPC, which counts whatever the HTTP status. */
function isRpcError(answer: unknown): boolean {
  const { code, message } = Object(Object(answer).error);
  return typeof code === 'number' && typeof message === 'string';
}

/** @throws RpcUnavailableError, SyntaxError, and what reading a body throws */
async function readAnswer(response: Response): Promise<unknown> {
  const { status, headers, ok } = response;
  if (status === TOO_MANY_REQUESTS || status === SERVICE_UNAVAILABLE) {
    await response.body?.cancel();
    throw new RpcUnavailableError(`HTTP status ${status}`, { status, retryAfterMs: readRetryAfter(headers) });
  }
  const text = await readBody(response);
  if (ok) return JSON.parse(text);
  const answer = parseOrNothing(text);
  if (isRpcError(answer)) return answer;
  throw new RpcUnavailableError(`HTTP status ${status}`, { status });
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Makes posts to a node over HTTP. It bounds what is read, and takes an error of JSON-RPC whatever the status.
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
  const given = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    redirect: 'error',
  } as const;
  return async function post(body) {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), options.timeoutMs);
    const signal = AbortSignal.any([options.signal, timeout.signal]);
    try {
      return await readAnswer(await fetch(url, { ...given, body: JSON.stringify(body), signal }));
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
