import type { Transport } from 'viem';
import type { RpcClient } from './rpcClient.ts';
import { RpcAnswerError, RpcUnavailableError } from './rpcError.ts';

/** What viem calls an error that it does not know. */
const NO_CODE = -1;

/** Finds the node's own error among the layers that viem wraps round it. */
function findAnswer(error: unknown): { code: number; message: string; data?: unknown } | undefined {
  let layer = error;
  let found: { code: number; message: string; data?: unknown } | undefined;
  for (let depth = 0; depth < 8 && layer instanceof Error; depth++) {
    // An aborted or late request is a DOMException, whose code is none of the node's; viem gives -1 to what has none.
    const code = 'code' in layer && !(layer instanceof DOMException) ? layer.code : undefined;
    if (typeof code === 'number' && code !== NO_CODE) {
      const message = 'details' in layer && typeof layer.details === 'string' ? layer.details : layer.message;
      found = { code, message, ...('data' in layer ? { data: layer.data } : {}) };
    }
    layer = layer.cause;
  }
  return found;
}

/**
 * Makes JSON-RPC calls through a transport of viem.
 *
 * @param transport - like `http(url)`, `fallback([…])`, `custom(provider)`
 * @param options - the time that a call may take
 * @returns the client
 */
export function createTransportRpc(transport: Transport, options: { readonly timeoutMs: number }): RpcClient {
  // Trying again is the sender's own work: it knows what may be repeated.
  const { request } = transport({ retryCount: 0, timeout: options.timeoutMs });
  const closing = new AbortController();
  const closed = new Promise<never>((_, reject) => {
    closing.signal.addEventListener('abort', () => reject(new RpcUnavailableError('closed')), { once: true });
  });
  closed.catch(() => undefined);
  return {
    async request(method, params) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new RpcUnavailableError('no answer in time')), options.timeoutMs);
      });
      try {
        return await Promise.race([request({ method, params }), late, closed]);
      } catch (error) {
        if (error instanceof RpcUnavailableError) throw error;
        const answer = findAnswer(error);
        if (answer === undefined) throw new RpcUnavailableError('no answer');
        throw new RpcAnswerError(answer);
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => closing.abort(),
  };
}
