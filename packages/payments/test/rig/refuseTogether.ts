import type { RpcFault } from '@prism-gateway/testing';
import type { Hex } from 'viem';

/** The first parameter of `eth_call`. */
export interface CallParameter {
  readonly to?: Hex;
  readonly data?: Hex;
}

/**
 * Has a node refuse calls without an address, as some do: then each contract is asked by itself, and its answer can be changed.
 *
 * @returns the refusal, or undefined for a call of one contract
 */
export function refuseTogether(call: CallParameter): RpcFault | undefined {
  if (call.to !== undefined) return undefined;
  return { kind: 'error', code: -32_602, message: 'missing value for required argument: to' };
}
