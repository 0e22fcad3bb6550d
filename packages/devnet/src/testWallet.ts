/** A contract wallet of one key (ERC-1271), for the tests of every package. */
export { testWalletAbi } from './generated/testWalletAbi.ts';
export { testWalletBytecode } from './generated/testWalletBytecode.ts';
