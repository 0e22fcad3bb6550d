import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import { parseArray, parseLog } from '@prism-gateway/node/rpc';
import type { Hex } from 'viem';
import { keccak256, numberToHex, padHex, toHex } from 'viem/utils';
import { ChainError } from './chainError.ts';
import { type ReadRpc, readBlockTime } from './createChainRpc.ts';
import type { BlockRange } from './createWalkBack.ts';

/** Signature of the Forwarder's event. */
const REQUEST_EXECUTED = keccak256(toHex('RequestExecuted(bytes32,address,uint256,address,uint256)'));

/** An execution that a log shows. */
export interface Execution extends RequestExecuted {
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

/** Whose executions are read. */
interface ExecutionFilter {
  readonly rpc: ReadRpc;
  readonly forwarder: Hex;
  /** undefined: anybody's. */
  readonly signer: Hex | undefined;
  /** undefined: any. */
  readonly nonce: bigint | undefined;
}

/** Executions in the logs of a range. */
interface ExecutionPage {
  /** Newest first. */
  readonly executions: readonly Execution[];
  /** Time of the range's oldest block. */
  readonly oldestSeconds: bigint | undefined;
}

/** @returns the execution that a log shows; undefined if it is of another signer or nonce, or has consumed none */
function readExecution({ forwarder, signer, nonce }: ExecutionFilter, answer: unknown): Execution | undefined {
  const log = parseLog(answer, 'log');
  const [event] = log.removed ? [] : readRequestExecuted({ logs: [log], forwarder });
  if (event?.success !== true) return undefined;
  if (signer !== undefined && event.signer.toLowerCase() !== signer.toLowerCase()) return undefined;
  if (nonce !== undefined && event.nonce !== nonce) return undefined;
  // `parseLog` has read both.
  return { ...event, txHash: log.transactionHash as Hex, blockNumber: log.blockNumber as bigint };
}

/** @returns newest first */
function readExecutionList(filter: ExecutionFilter, logs: unknown): readonly Execution[] {
  const executions = parseArray(logs, 'logs').map((log) => readExecution(filter, log));
  return executions.filter((each) => each !== undefined).toReversed();
}

function toRefusal(error: unknown): undefined {
  if (error instanceof ChainError && error.code === 'RPC_UNAVAILABLE') return undefined;
  throw error;
}

/**
 * Reads a signer's executions in a range of blocks.
 *
 * @returns undefined if the node refuses the query, though it answers others
 * @throws ChainError if it does not answer, or does not have the newest of the blocks yet
 */
export async function readExecutions(
  filter: ExecutionFilter,
  { fromBlock, toBlock }: BlockRange,
): Promise<ExecutionPage | undefined> {
  const { rpc, forwarder, signer, nonce } = filter;
  // Of any digest.
  const topics: (Hex | null)[] = [REQUEST_EXECUTED, null, signer === undefined ? null : padHex(signer, { size: 32 })];
  if (nonce !== undefined) topics.push(numberToHex(nonce, { size: 32 }));
  const query = { address: forwarder, topics, fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
  // In one batch, which one node answers: one that is behind knows no logs of blocks that it does not have.
  const oldest = readBlockTime(rpc, fromBlock);
  const [executions, oldestSeconds, newestSeconds] = await Promise.all([
    rpc.read(['eth_getLogs', query], (answer) => readExecutionList(filter, answer)).catch(toRefusal),
    oldest,
    fromBlock === toBlock ? oldest : readBlockTime(rpc, toBlock),
  ]);
  if (newestSeconds === undefined) throw new ChainError('RPC_UNAVAILABLE', `The node does not have block ${toBlock}.`);
  if (executions === undefined) return undefined;
  return { executions, oldestSeconds };
}
