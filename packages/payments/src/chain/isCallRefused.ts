import { BaseError, ContractFunctionZeroDataError, RpcRequestError } from 'viem';

/** The JSON-RPC code of a reverted call. */
const REVERTED = 3;

/**
 * Tells a contract that lacks a function, or refuses it, from a node that fails.
 *
 * @param error - of a read of a contract
 * @returns whether the contract itself said no
 */
export function isCallRefused(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const isRefusal = (cause: unknown) =>
    cause instanceof ContractFunctionZeroDataError ||
    (cause instanceof RpcRequestError && (cause.code === REVERTED || /revert/i.test(cause.details)));
  return error.walk(isRefusal) !== null;
}
