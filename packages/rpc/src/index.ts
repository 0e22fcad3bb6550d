export {
  type JsonRecord,
  parseAddress,
  parseArray,
  parseBytes,
  parseCount,
  parseHash,
  parseLog,
  parseQuantity,
  parseRecord,
} from './answers/parseAnswers.ts';
export { type Revert, readRevert } from './answers/readRevert.ts';
export { leastAgreed, mostAgreed } from './client/agree.ts';
export { askEach, type NodeAnswer } from './client/askEach.ts';
export type { RpcClient } from './client/createRpcClient.ts';
export { createRpcClient, type RpcClientOptions } from './client/createRpcClient.ts';
export type { RpcPool } from './client/createRpcPool.ts';
export { createRpcPool, createSinglePool, type RpcPoolOptions, tellEach } from './client/createRpcPool.ts';
export { createRpcTransport } from './client/createRpcTransport.ts';
export { createTransportClient } from './client/createTransportClient.ts';
export { type RetryPolicy, withRetries } from './client/withRetries.ts';
export { chooseTip, TIP_HISTORY } from './costs/chooseTip.ts';
export {
  type CostModel,
  createCostModel,
  type ExtraCost,
  type PricedTransaction,
  TRANSFER_GAS,
} from './costs/createCostModel.ts';
export { RpcAnswerError, type RpcFaultCode, RpcUnavailableError } from './rpcErrors.ts';
export {
  createSimulator,
  type Simulated,
  type SimulatedBlock,
  type SimulatedCall,
  type Simulator,
  type SimulatorOptions,
} from './simulate/createSimulator.ts';
