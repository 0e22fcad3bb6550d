import { RpcUnavailableError } from '@prism-gateway/rpc';
import type { Receipt } from './parseReceipt.ts';

/** So many nodes have to agree. */
const MAJORITY = 2;

/**
 * Finds what nodes say together of a transaction that was mined when it was looked at last.
 *
 * @param told - by each node that answers; undefined: it has no receipt
 * @returns the receipt that two of them have, or the only one that answers; undefined where as many have none
 * @throws RpcUnavailableError where they do not agree
 */
export function agreeReceipt(told: readonly (Receipt | undefined)[]): Receipt | undefined {
  const groups = [...Map.groupBy(told, (receipt) => receipt?.blockHash).values()];
  const [most = [], next = []] = groups.toSorted((one, other) => other.length - one.length);
  if (next.length === 0 || (most.length >= MAJORITY && most.length > next.length)) return most[0];
  throw new RpcUnavailableError('the nodes do not agree on a receipt');
}
