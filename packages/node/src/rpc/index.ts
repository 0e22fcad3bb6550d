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
export { askEach } from './client/askEach.ts';
export { createRpcClient, type RpcClient } from './client/createRpcClient.ts';
export { collectAnswers, createRpcPool, type RpcPool } from './client/createRpcPool.ts';
export { createRpcTransport } from './client/createRpcTransport.ts';
export { createTransportClient } from './client/createTransportClient.ts';
export { withRetries } from './client/withRetries.ts';
export { chooseTip, TIP_HISTORY } from './costs/chooseTip.ts';
export { type CostModel, createCostModel, type ExtraCost, TRANSFER_GAS } from './costs/createCostModel.ts';
export { deepEnoughAt, deepestBlock, isDeepEnough } from './isDeepEnough.ts';
export { RpcAnswerError, RpcUnavailableError } from './rpcErrors.ts';
export {
  createSimulator,
  type Simulated,
  type SimulatedBlock,
  type SimulatedCall,
  type Simulator,
} from './simulate/createSimulator.ts';
