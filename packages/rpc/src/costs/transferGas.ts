/** What a transaction costs that does nothing, a plain transfer, in gas. @see https://eips.ethereum.org/EIPS/eip-2 */
export const TRANSFER_GAS = 21_000n;
