import {
  type Address,
  formatTransaction,
  type Hash,
  keccak256,
  type RpcTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem';

/** A transaction that a key has signed. */
export interface SignedTransaction {
  readonly hash: Hash;
  readonly nonce: number;
}

/**
 * Reads a transaction as a node shows it, and looks whether an account's key has signed it: no node can make that up.
 *
 * @param shown - an entry of a block, or of what waits in the node
 * @param account - in lower case
 * @returns undefined where it has not, or that cannot be told
 */
export async function readSigned(shown: unknown, account: Address): Promise<SignedTransaction | undefined> {
  try {
    // What is none has something missing, which throws below.
    const { r, s, v, yParity, input, ...rest } = formatTransaction(shown as RpcTransaction);
    const signature = { r, s, v, ...(yParity !== undefined && { yParity }) };
    // Each type of transaction has fields of its own, which are among those that were read.
    const transaction = { ...rest, data: input } as TransactionSerializable;
    const serializedTransaction = serializeTransaction(transaction, signature);
    const signer = await recoverTransactionAddress({
      serializedTransaction: serializedTransaction as `0x02${string}`,
    });
    if (signer.toLowerCase() !== account) return undefined;
    return { hash: keccak256(serializedTransaction), nonce: rest.nonce };
  } catch {
    return undefined;
  }
}
