import { type Abi, BaseError, type Hex } from 'viem';
import { decodeErrorResult } from 'viem/utils';

/** A contract could not be deployed; `message` says which and why, `cause` holds what the node said. */
export class DeploymentError extends Error {
  override readonly name = 'DeploymentError';
  readonly code = 'DEPLOYMENT_FAILED';
}

function findRevertData(error: unknown): Hex | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const carrier = error.walk((cause) => typeof (cause as { data?: unknown }).data === 'string');
  // The walk has found that it is text; nodes send hex.
  return (carrier as { data?: Hex } | null)?.data;
}

function readReason(error: unknown, abi: Abi): string {
  const data = findRevertData(error);
  if (data === undefined) return error instanceof BaseError ? error.shortMessage : 'the chain did not take it.';
  try {
    return `its constructor refused with ${decodeErrorResult({ abi, data }).errorName}.`;
  } catch {
    return `its constructor refused with ${data.slice(0, 10)}.`;
  }
}

/**
 * Makes the error of a contract that could not be deployed. It does not repeat the creation code, as viem's does.
 *
 * @param failure.contract - its name
 * @param failure.error - what the client threw
 */
export function createDeploymentError(failure: {
  readonly contract: string;
  readonly abi: Abi;
  readonly error: unknown;
}): DeploymentError {
  const { contract, abi, error } = failure;
  return new DeploymentError(`The ${contract} could not be deployed: ${readReason(error, abi)}`, { cause: error });
}
