/** The creation codes: only whoever deploys needs them. */
export { cloudBytecode } from './generated/cloudBytecode.ts';
export { coreBytecode } from './generated/coreBytecode.ts';
export { creditTokenBytecode } from './generated/creditTokenBytecode.ts';
export { exchangeBytecode } from './generated/exchangeBytecode.ts';
export { forwarderBytecode } from './generated/forwarderBytecode.ts';
export { payoutsBytecode } from './generated/payoutsBytecode.ts';
export { stablecoinBytecode } from './generated/stablecoinBytecode.ts';
