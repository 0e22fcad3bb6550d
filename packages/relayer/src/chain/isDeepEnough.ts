/** Chain id of Anvil and Hardhat, which make a block when a transaction comes: a second confirmation might never come. */
export const DEV_CHAIN_ID = 31_337;
/** Blocks that finalize a transaction, the including one counted. */
const DEFAULT_CONFIRMATIONS = 3;

/** How many blocks finalize a transaction on a chain, the including one counted. @param given - as it is set */
export function chooseConfirmations(chainId: number, given: number | undefined): number {
  return given ?? (chainId === DEV_CHAIN_ID ? 1 : DEFAULT_CONFIRMATIONS);
}

/** The block with which a transaction is deep enough. */
export function deepEnoughAt(blockNumber: bigint, confirmations: number | bigint): bigint {
  return blockNumber + BigInt(confirmations) - 1n;
}

/** The newest block that is deep enough below another one; negative if none is. */
export function deepestBlock(head: bigint, confirmations: number | bigint): bigint {
  return head - BigInt(confirmations) + 1n;
}

/**
 * Whether a transaction is deep enough for its outcome to be final: the one place of relayer and watchtower that says so.
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
