import type { RpcClient } from './rpcClient.ts';
import { RpcAnswerError, RpcUnavailableError } from './rpcError.ts';

/** Calls made in one turn go out together, but no more than these in one request. */
const MAX_BATCH_CALLS = 50;
/** Nodes bound bodies at 2 to 5 MB. */
const MAX_BATCH_BYTES = 1_000_000;
/** A receipt with many logs is some 100 kB; a batch of them stays below this. */
const MAX_ANSWER_BYTES = 64_000_000;
/** What nodes say in JSON when asked too often (EIP-1474, and what providers made of it). */
const LIMIT_CODES = [-32005, -32016, 429];

interface PendingCall {
  readonly id: number;
  readonly body: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** What `fetch` says without the address in it. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return 'failed';
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  return `no answer (${code})`;
}

/** Credentials in the URL go into a header; `fetch` does not take them. */
function splitUrl(rpcUrl: string): { url: URL; headers: Record<string, string> } {
  const url = new URL(rpcUrl);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (url.username !== '' || url.password !== '') {
    const given = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(given).toString('base64')}`;
    url.username = '';
    url.password = '';
  }
  return { url, headers };
}

function retryAfterOf(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 60) * 1000 : undefined;
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new RpcUnavailableError('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RpcUnavailableError('the answer is not JSON');
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isLimit({ code, message }: Record<string, unknown>): boolean {
  return LIMIT_CODES.some((limit) => limit === code) || /rate limit|too many requests/i.test(`${message}`);
}

/** Reads the answer to a call, which must be one. */
function readAnswer(id: number, answer: unknown): unknown {
  if (!isRecord(answer) || answer.jsonrpc !== '2.0' || answer.id !== id) {
    throw new RpcUnavailableError('the answer is not one to this call');
  }
  const { error } = answer;
  if (error === undefined || error === null) {
    if (!('result' in answer)) throw new RpcUnavailableError('the answer has no result');
    return answer.result;
  }
  if (!isRecord(error) || typeof error.code !== 'number' || typeof error.message !== 'string') {
    throw new RpcUnavailableError('the answer is neither a result nor an error');
  }
  if (isLimit(error)) {
    throw new RpcUnavailableError('rate-limited');
  }
  throw new RpcAnswerError({ code: error.code, message: error.message, data: error.data });
}

function settle(call: PendingCall, answer: unknown): void {
  try {
    call.resolve(readAnswer(call.id, answer));
  } catch (error) {
    // Nothing else is thrown above.
    call.reject(error as Error);
  }
}

/** Groups of calls that fit into one request. */
function* chunkCalls(calls: readonly PendingCall[], maxCalls: number): Generator<readonly PendingCall[]> {
  let chunk: PendingCall[] = [];
  let bytes = 0;
  for (const call of calls) {
    if (chunk.length > 0 && (chunk.length === maxCalls || bytes + call.body.length > MAX_BATCH_BYTES)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(call);
    bytes += call.body.length;
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * Makes JSON-RPC calls over HTTP; those made in one turn of the event loop share a request. Answers are taken only by their ids.
 *
 * @param options - the node's URL, `http(s)://…`, and the time that a request may take
 * @returns the client
 * @see https://www.jsonrpc.org/specification
 */
export function createHttpRpc(options: { readonly rpcUrl: string; readonly timeoutMs: number }): RpcClient {
  const { url, headers } = splitUrl(options.rpcUrl);
  const closing = new AbortController();
  let nextId = 1;
  let batchCalls = MAX_BATCH_CALLS;
  let waiting: PendingCall[] = [];

  async function post(body: string): Promise<unknown> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(options.timeoutMs)]);
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
    const text = await readBounded(response);
    if (response.status === 429 || response.status >= 500) {
      throw new RpcUnavailableError(`HTTP status ${response.status}`, retryAfterOf(response));
    }
    return parseJson(text);
  }

  async function exchange(calls: readonly PendingCall[]): Promise<void> {
    try {
      // Chunks are never empty.
      if (calls.length === 1) return settle(calls[0]!, await post(calls[0]!.body));
      const answers = await post(`[${calls.map((call) => call.body).join(',')}]`);
      if (isRecord(answers) && isRecord(answers.error) && !isLimit(answers.error)) {
        // Not every node takes batches. Repeating is harmless: what is sent is reads, and bytes that may be sent twice.
        batchCalls = 1;
        return void (await Promise.all(calls.map((call) => exchange([call]))));
      }
      if (!Array.isArray(answers)) throw new RpcUnavailableError('the answer to a batch is none');
      const byId = new Map(answers.filter(isRecord).map((answer) => [answer.id, answer]));
      for (const call of calls) settle(call, byId.get(call.id));
    } catch (error) {
      const fault = error instanceof RpcUnavailableError ? error : new RpcUnavailableError(reasonOf(error));
      for (const call of calls) call.reject(fault);
    }
  }

  function flush(): void {
    const calls = waiting;
    waiting = [];
    // `exchange` settles its calls and never throws.
    for (const chunk of chunkCalls(calls, batchCalls)) void exchange(chunk);
  }

  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        const id = nextId++;
        if (waiting.length === 0) queueMicrotask(flush);
        waiting.push({ id, body: JSON.stringify({ jsonrpc: '2.0', id, method, params }), resolve, reject });
      }),
    close: () => closing.abort(),
  };
}
