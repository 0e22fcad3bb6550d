export type {
  Chain,
  ChainBlock,
  ChainLog,
  ChainNode,
  ChainOptions,
  DroppedTransaction,
  GenesisAccount,
  Lie,
  Market,
  MinedTransaction,
  MineOptions,
  NodeFaults,
  PoolLimits,
  PoolTransaction,
  Reorganisation,
  ReorganiseOptions,
} from './chain.ts';
export { createChain } from './createChain.ts';
export { createNodeTransport } from './createNodeTransport.ts';
export { createMiningTransport, deployToChain } from './deployToChain.ts';
export { lies } from './lies.ts';
export { RpcFailure } from './RpcFailure.ts';
