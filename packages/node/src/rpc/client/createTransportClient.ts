import { HttpRequestError, type Transport } from 'viem';
import { RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import { readRetryAfter } from './createHttpPost.ts';
import type { RpcClient } from './createRpcClient.ts';

/** Viem's code for an error that it does not know. */
const NO_CODE = -1;
/** Deeper than any error of viem. */
const MAX_LAYERS = 8;

/** The code of an error of the node; an aborted or late request is a DOMException, whose code is none of the node's. */
function codeOf(layer: Error): number | undefined {
  const code = 'code' in layer && !(layer instanceof DOMException) ? layer.code : undefined;
  return typeof code === 'number' && code !== NO_CODE ? code : undefined;
}

/** Finds the node's own error, or why there is no answer, among the layers that viem wraps round it. */
function plainError(error: unknown): RpcAnswerError | RpcUnavailableError {
  let found: RpcAnswerError | RpcUnavailableError | undefined;
  let layer = error;
  for (let depth = 0; depth < MAX_LAYERS && layer instanceof Error; depth++) {
    if (layer instanceof RpcUnavailableError) return layer;
    const code = codeOf(layer);
    if (code !== undefined) {
      const message = 'details' in layer && typeof layer.details === 'string' ? layer.details : layer.message;
      found = new RpcAnswerError({ code, message, data: 'data' in layer ? layer.data : undefined });
    } else if (layer instanceof HttpRequestError && layer.status !== undefined) {
      const { status, headers } = layer;
      const retryAfterMs = headers === undefined ? undefined : readRetryAfter(headers);
      found ??= new RpcUnavailableError(`HTTP status ${status}`, { status, retryAfterMs });
    }
    layer = layer.cause;
  }
  return found ?? new RpcUnavailableError('no answer');
}

/**
 * Makes JSON-RPC calls through a transport of viem.
 *
 * @param transport - like `http(url)`, `fallback([…])`, `custom(provider)`
 * @param options.timeoutMs - the time that a call may take, in milliseconds
 */
export function createTransportClient(transport: Transport, options: { readonly timeoutMs: number }): RpcClient {
  // Trying again is `withRetries`' work, or the caller's.
  const { request } = transport({ retryCount: 0, timeout: options.timeoutMs });
  /** One for each call under way: a promise for all of them, raced with each, would keep all answers in memory. */
  const ends = new Set<(reason: string) => void>();
  let isClosed = false;
  return {
    async request(method, params) {
      const ended = Promise.withResolvers<never>();
      const end = (reason: string) => ended.reject(new RpcUnavailableError(reason));
      ends.add(end);
      const timer = setTimeout(() => end(`no answer within ${options.timeoutMs} ms`), options.timeoutMs);
      if (isClosed) end('closed');
      try {
        return await Promise.race([ended.promise, request({ method, params })]);
      } catch (error) {
        throw plainError(error);
      } finally {
        clearTimeout(timer);
        ends.delete(end);
      }
    },
    close() {
      isClosed = true;
      for (const end of ends) end('closed');
    },
  };
}
