import { readRevert } from '../answers/readRevert.ts';
import { isRefusedRequest, RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import type { RpcClient } from './createRpcClient.ts';

/** How patiently calls are repeated. */
export interface RetryPolicy {
  /** Most attempts of one call, the first included. */
  readonly attempts: number;
  /** Makes the pauses of one call; `createBackOff` of the runtime does. */
  readonly createBackOff: () => {
    /** Waits, at least as long as the node has asked for. @returns false when the wait was ended: nothing is tried again then */
    wait(askedMs?: number): Promise<boolean>;
  };
}

/**
 * Repeats calls that have got no answer, or an error of the node itself; for calls that only ask, or may be made twice. A revert is an
 * answer as good as any.
 *
 * @param policy - how often, and with which pauses; `Retry-After` is honoured
 * @returns a client that throws the last error
 * @example
 * const patient = withRetries(client, {
 *   attempts: 4,
 *   createBackOff: () => createBackOff({ firstMs: 150, maxMs: 2000, random: Math.random, signal }),
 * });
 */
export function withRetries(client: RpcClient, policy: RetryPolicy): RpcClient {
  return {
    close: client.close,
    async request(method, params) {
      const backOff = policy.createBackOff();
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await client.request(method, params);
        } catch (error) {
          if (attempts >= policy.attempts || !isPassing(error)) throw error;
          const askedMs = error instanceof RpcUnavailableError ? error.retryAfterMs : undefined;
          if (!(await backOff.wait(askedMs))) throw error;
        }
      }
    },
  };
}

/** "Method not found", and the other errors of JSON-RPC that are about the call: they would be the same again. */
const FINAL_CODES: readonly number[] = [-32_700, -32_600, -32_601, -32_602];
/** Errors of `eth_simulateV1` about the call. @see https://github.com/ethereum/execution-apis */
const isSimulationCode = (code: number) => code <= -38_000 && code > -39_000;

/** Whether the same call may have a better answer in a moment: nodes behind a balancer differ, and an overloaded one errs. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RpcUnavailableError) {
    return error.code !== 'RPC_ANSWER_TOO_LARGE' && !isRefusedRequest(error);
  }
  if (!(error instanceof RpcAnswerError)) return false;
  return readRevert(error) === undefined && !FINAL_CODES.includes(error.code) && !isSimulationCode(error.code);
}
