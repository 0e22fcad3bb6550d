/** Contracts that behave otherwise than the reference ones, for the tests of every package. */
export { bareExchangeAbi } from './generated/bareExchangeAbi.ts';
export { bareExchangeBytecode } from './generated/bareExchangeBytecode.ts';
export { greedyExchangeAbi } from './generated/greedyExchangeAbi.ts';
export { greedyExchangeBytecode } from './generated/greedyExchangeBytecode.ts';
export { stubbornStablecoinAbi } from './generated/stubbornStablecoinAbi.ts';
export { stubbornStablecoinBytecode } from './generated/stubbornStablecoinBytecode.ts';
