import { TRANSFER_GAS } from '@prism-gateway/rpc';
import type { SenderAccount } from '@prism-gateway/sender';
import { type Hex, parseTransaction } from 'viem';

/** Nodes take another transaction on a nonce for a tenth more. */
function raise(fee: bigint): bigint {
  return (fee * 5n) / 4n + 1n;
}

function higher(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

/**
 * Signs a transfer of nothing to oneself on the account nonce of another transaction, which can never be mined then.
 *
 * @param account - whose nonce it is
 * @param terms - the other's signed bytes, EIP-1559, and what gas costs now, in wei. A node that has the other takes this one only for more,
 *   though it be more than `MAX_FEE_GWEI` by a quarter
 * @returns signed bytes
 */
export async function signCancellation(
  account: Pick<SenderAccount, 'address' | 'signTransaction'>,
  terms: { readonly raw: Hex; readonly gasPrice: bigint },
): Promise<Hex> {
  const { raw, gasPrice } = terms;
  // The sender signs nothing but EIP-1559 transactions.
  const { chainId, nonce, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw as `0x02${string}`);
  return await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce: nonce ?? 0,
    to: account.address,
    data: '0x',
    value: 0n,
    gas: TRANSFER_GAS,
    maxFeePerGas: raise(higher(maxFeePerGas, gasPrice)),
    maxPriorityFeePerGas: raise(maxPriorityFeePerGas),
  });
}
