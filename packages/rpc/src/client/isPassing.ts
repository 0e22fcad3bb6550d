import { readRevert } from '../answers/readRevert.ts';
import { isRefusedRequest, RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';

/** "Method not found", and the other errors of JSON-RPC that are about the call: they would be the same again. */
const FINAL_CODES: readonly number[] = [-32_700, -32_600, -32_601, -32_602];
/** Errors of `eth_simulateV1` about the call. @see https://github.com/ethereum/execution-apis */
const isSimulationCode = (code: number) => code <= -38_000 && code > -39_000;

/**
 * Tells whether the same call may have a better answer in a moment: nodes behind a balancer differ, and an overloaded one errs.
 *
 * @param error - what the call was answered with
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof RpcUnavailableError) {
    return error.code !== 'RPC_ANSWER_TOO_LARGE' && !isRefusedRequest(error);
  }
  if (!(error instanceof RpcAnswerError)) return false;
  return readRevert(error) === undefined && !FINAL_CODES.includes(error.code) && !isSimulationCode(error.code);
}
