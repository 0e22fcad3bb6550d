/** Chain id of Anvil and Hardhat, which make a block when a transaction comes: a second confirmation might never come. */
export const DEV_CHAIN_ID = 31_337;
/** Blocks that finalize a transaction, the including one counted. */
const DEFAULT_CONFIRMATIONS = 3;

/** How many blocks finalize a transaction on a chain, the including one counted. @param given - as it is set */
export function chooseConfirmations(chainId: number, given: number | undefined): number {
  return given ?? (chainId === DEV_CHAIN_ID ? 1 : DEFAULT_CONFIRMATIONS);
}
