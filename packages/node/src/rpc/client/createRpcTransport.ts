import { createTransport, HttpRequestError, RpcRequestError, type Transport } from 'viem';
import { RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import type { RpcClient } from './createRpcClient.ts';

/** Stands for a URL in viem's errors. */
const NO_URL = 'not shown';

/** An error as viem's own transport has it, so that viem reads reverts out of it. */
function toViemError(error: unknown, method: string): unknown {
  const about = { body: { method }, url: NO_URL };
  if (error instanceof RpcAnswerError) {
    const { code, message, data } = error;
    return new RpcRequestError({ ...about, error: { code, message, data } });
  }
  if (!(error instanceof RpcUnavailableError)) return error;
  const { message, status } = error;
  return new HttpRequestError({
    ...about,
    cause: error,
    details: message,
    ...(status === undefined ? {} : { status }),
  });
}

/**
 * Makes a transport of viem on a client, so that a `PublicClient` shares its batches, its patience and its discretion: no error holds
 * the node's URL. viem itself repeats nothing: wrap the client in `withRetries`.
 *
 * @example
 * const publicClient = createPublicClient({ transport: createRpcTransport(createRpcClient({ rpcUrl })) });
 */
export function createRpcTransport(client: RpcClient): Transport {
  return () =>
    createTransport({
      key: 'rpc',
      name: 'JSON-RPC',
      type: 'rpc',
      retryCount: 0,
      // The type of `request` depends on the method.
      request: (async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
        try {
          return await client.request(method, params);
        } catch (error) {
          throw toViemError(error, method);
        }
      }) as never,
    });
}
