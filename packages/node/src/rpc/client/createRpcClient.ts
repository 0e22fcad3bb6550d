import { isRefusedRequest, RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import { createHttpPost, type HttpPost, type WireCall } from './createHttpPost.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** Calls made in one turn go out together, but no more than these in one request, until the node refuses as many. */
const MAX_BATCH_CALLS = 50;
/** A node that refuses a batch gets batches a quarter as large, down to none. */
const SHRINK = 4;
/** So long, in milliseconds; then larger ones are tried again, for what was refused may have failed for another reason. */
const SHRUNK_FOR_MS = 600_000;
/** Nodes bound bodies at 2 to 5 MB. */
const MAX_BATCH_CHARACTERS = 1_000_000;
/** Codes of nodes that are asked too often: EIP-1474's code, and what providers made of it. */
const LIMIT_CODES: readonly unknown[] = [-32_005, -32_007, -32_016, 429];
interface PendingCall extends WireCall {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type JsonRecord = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isLimit({ code, message }: JsonRecord): boolean {
  return LIMIT_CODES.includes(code) || /rate limit|too many requests/i.test(`${message}`);
}

/** Whether an error that answers one call of a batch is about the batch: "batch too large", "response too large". */
function isBatchRefusal(answer: unknown): boolean {
  return (
    isRecord(answer) && isRecord(answer.error) && /\bbatch|response (is )?too large/i.test(`${answer.error.message}`)
  );
}

const isTooLarge = (error: unknown) => error instanceof RpcUnavailableError && error.code === 'RPC_ANSWER_TOO_LARGE';

/** Reads the answer to a call, which must be one. @throws RpcAnswerError, RpcUnavailableError */
function readAnswer(id: number, answer: unknown): unknown {
  if (!isRecord(answer) || answer.jsonrpc !== '2.0' || answer.id !== id) {
    // Servers that did not get as far as the id say so with none.
    const isNameless = isRecord(answer) && (answer.id === null || answer.id === undefined) && isRecord(answer.error);
    if (!isNameless) throw new RpcUnavailableError('the answer is not one to this call');
  }
  const { error } = answer;
  if (error === undefined || error === null) {
    if (!('result' in answer)) throw new RpcUnavailableError('the answer has no result');
    return answer.result;
  }
  if (!isRecord(error) || typeof error.code !== 'number' || typeof error.message !== 'string') {
    throw new RpcUnavailableError('the answer is neither a result nor an error');
  }
  if (isLimit(error)) throw new RpcUnavailableError('rate-limited');
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

/** A measure of a call's JSON that costs no writing: nearly all of it is long strings. */
function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce((sum: number, part) => sum + countCharacters(part) + 8, 0);
}

/** Groups of calls that fit into one request. */
function* chunkCalls(calls: readonly PendingCall[], maxCalls: number): Generator<readonly PendingCall[]> {
  let chunk: PendingCall[] = [];
  let characters = 0;
  for (const call of calls) {
    const size = countCharacters(call.params);
    if (chunk.length > 0 && (chunk.length >= maxCalls || characters + size > MAX_BATCH_CHARACTERS)) {
      yield chunk;
      chunk = [];
      characters = 0;
    }
    chunk.push(call);
    characters += size;
  }
  if (chunk.length > 0) yield chunk;
}

const toWire = ({ jsonrpc, id, method, params }: PendingCall): WireCall => ({ jsonrpc, id, method, params });

/** Exchanges groups of calls with a node, and learns how many it takes at once. */
function createExchange(post: HttpPost, now: () => number) {
  let maxCalls = MAX_BATCH_CALLS;
  let shrunkAtMs = 0;

  function shrink(calls: number): void {
    maxCalls = Math.min(maxCalls, Math.max(1, Math.floor(calls / SHRINK)));
    shrunkAtMs = now();
  }

  function findMaxCalls(): number {
    if (maxCalls < MAX_BATCH_CALLS && now() - shrunkAtMs >= SHRUNK_FOR_MS) {
      maxCalls = Math.min(MAX_BATCH_CALLS, maxCalls * SHRINK);
      shrunkAtMs = now();
    }
    return maxCalls;
  }

  /** @returns whether the server refused to look at the call */
  async function exchangeOne(call: PendingCall): Promise<boolean> {
    try {
      settle(call, await post(toWire(call)));
      return false;
    } catch (error) {
      // `post` throws nothing else.
      call.reject(error as RpcUnavailableError);
      return isRefusedRequest(error);
    }
  }

  /** Repeating is harmless: what is sent is reads, and bytes that may be sent twice. */
  async function exchangeEach(calls: readonly PendingCall[]): Promise<void> {
    const refused = await Promise.all(calls.map(exchangeOne));
    // If the node refuses a call alone as well, it was not for the batch.
    if (!refused.includes(true)) shrink(calls.length);
  }

  async function exchangeBatch(calls: readonly PendingCall[]): Promise<void> {
    const answers = await post(calls.map(toWire));
    if (isRecord(answers) && isRecord(answers.error) && !isLimit(answers.error)) return await exchangeEach(calls);
    if (!Array.isArray(answers)) throw new RpcUnavailableError('the answer to a batch is none');
    const byId = new Map(answers.filter(isRecord).map((answer) => [answer.id, answer]));
    const hasRefusal = answers.some(isBatchRefusal);
    const isLeft = ({ id }: PendingCall) => hasRefusal && (!byId.has(id) || isBatchRefusal(byId.get(id)));
    for (const call of calls) if (!isLeft(call)) settle(call, byId.get(call.id));
    if (hasRefusal) await exchangeEach(calls.filter(isLeft));
  }

  return {
    maxCalls: findMaxCalls,
    /** Settles all of the calls, and never throws. */
    async exchange(calls: readonly PendingCall[]): Promise<void> {
      const [first] = calls;
      if (calls.length === 1 && first !== undefined) return void (await exchangeOne(first));
      try {
        await exchangeBatch(calls);
      } catch (error) {
        if (isRefusedRequest(error) || isTooLarge(error)) return await exchangeEach(calls);
        // `post` throws nothing else.
        for (const call of calls) call.reject(error as RpcUnavailableError);
      }
    },
  };
}

/** Leaves a node alone for as long as it asks to be. */
function respectRetryAfter(post: HttpPost, now: () => number): HttpPost {
  let untilMs = 0;
  return async function postLater(body) {
    const leftMs = untilMs - now();
    if (leftMs > 0) throw new RpcUnavailableError('the node asked to be left alone', { retryAfterMs: leftMs });
    try {
      return await post(body);
    } catch (error) {
      if (error instanceof RpcUnavailableError) untilMs = Math.max(untilMs, now() + (error.retryAfterMs ?? 0));
      throw error;
    }
  };
}

/**
 * Makes JSON-RPC calls over HTTP. Those made in one turn of the event loop share a request; a node that does not take batches, or
 * only small ones, gets what it takes. Answers are matched by their ids alone. Nothing is repeated but what a refused batch held.
 *
 * @see https://www.jsonrpc.org/specification
 * @example
 * const client = createRpcClient({ rpcUrl: 'https://user:password@node.example' });
 * const [chainId, balance] = await Promise.all([
 *   client.request('eth_chainId', []),
 *   client.request('eth_getBalance', [address, 'latest']),
 * ]); // one HTTP request
 */
export function createRpcClient(options: {
  /** `http(s)://…`, with user and password in it if the node wants them. It appears in no error. */
  readonly rpcUrl: string;
  /** For one exchange, in milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** Milliseconds of a clock that is never set; default the machine's. */
  readonly monotonicNow?: () => number;
}): RpcClient {
  const { rpcUrl, timeoutMs = DEFAULT_TIMEOUT_MS, monotonicNow = () => performance.now() } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const post = respectRetryAfter(createHttpPost({ rpcUrl, timeoutMs, signal }), monotonicNow);
  const { exchange, maxCalls } = createExchange(post, monotonicNow);
  let nextId = 1;
  let waiting: PendingCall[] = [];

  function flush(): void {
    const calls = waiting;
    waiting = [];
    for (const chunk of chunkCalls(calls, maxCalls())) void exchange(chunk);
  }

  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new RpcUnavailableError('closed'));
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ jsonrpc: '2.0', id: nextId++, method, params, resolve, reject });
      }),
    close: () => closing.abort(),
  };
}

/** Makes JSON-RPC calls to a node. */
export interface RpcClient {
  /**
   * Makes a call.
   *
   * @param method - like `eth_chainId`
   * @returns the `result`, not looked at
   * @throws RpcAnswerError when the node answers with an error; RpcUnavailableError when there is no answer
   */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Ends the calls on their way; later ones fail at once. */
  close(): void;
}
