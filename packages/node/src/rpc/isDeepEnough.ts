/** The block with which a transaction is deep enough. */
export function deepEnoughAt(blockNumber: bigint, confirmations: number | bigint): bigint {
  return blockNumber + BigInt(confirmations) - 1n;
}

/** The newest block that is deep enough below another one; negative if none is. */
export function deepestBlock(head: bigint, confirmations: number | bigint): bigint {
  return head - BigInt(confirmations) + 1n;
}

/**
 * Whether a transaction is deep enough for its outcome to be final: the one place of all daemons that says so.
 *
 * @param blockNumber - of the block that includes it, which counts as the first confirmation
 * @param chain.head - number of the newest block
 */
export function isDeepEnough(
  blockNumber: bigint,
  { head, confirmations }: { readonly head: bigint; readonly confirmations: number | bigint },
): boolean {
  return head >= deepEnoughAt(blockNumber, confirmations);
}
