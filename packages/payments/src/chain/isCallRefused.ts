import { ContractFunctionZeroDataError } from 'viem';

/** The JSON-RPC code of a reverted call. */
const REVERTED = 3;

/** Whether one error of a chain is a node's word that the call was reverted; viem calls internal errors of a node so, too. */
function isRevert(error: Error): boolean {
  if (error.name.startsWith('ContractFunction')) return false;
  return ('code' in error && error.code === REVERTED) || /revert/i.test(error.message);
}

/**
 * Distinguishes a contract that lacks a function, or refuses it, from a node that fails.
 *
 * @param error - of a read of a contract
 * @returns whether the contract itself said no
 */
export function isCallRefused(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ContractFunctionZeroDataError || isRevert(at)) return true;
  }
  return false;
}
