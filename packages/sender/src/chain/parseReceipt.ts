import type { Address, Hash, Hex, Log } from 'viem';
import {
  type JsonRecord,
  parseAddress,
  parseArray,
  parseBytes,
  parseCount,
  parseHash,
  parseQuantity,
  parseRecord,
} from './parseAnswers.ts';
import { RpcUnavailableError } from './rpcError.ts';

/** A receipt, as far as it matters here. */
export interface Receipt {
  readonly txHash: Hash;
  readonly blockHash: Hash;
  readonly blockNumber: bigint;
  readonly status: 'success' | 'reverted';
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  readonly logs: readonly Log[];
}

function parseLog(value: unknown, receipt: { txHash: Hash; blockHash: Hash; blockNumber: bigint }): Log {
  const log = parseRecord(value, 'log');
  const { txHash, blockHash, blockNumber } = receipt;
  if (parseHash(log.transactionHash, 'log.transactionHash') !== txHash) {
    throw new RpcUnavailableError('a log in the receipt belongs to another transaction');
  }
  const topics = parseArray(log.topics, 'log.topics').map((topic) => parseHash(topic, 'log.topics'));
  return {
    address: parseAddress(log.address, 'log.address'),
    // viem's type of topics is a tuple of any length or none.
    topics: topics as [Hex, ...Hex[]] | [],
    data: parseBytes(log.data, 'log.data'),
    blockHash,
    blockNumber,
    logIndex: parseCount(log.logIndex, 'log.logIndex'),
    transactionHash: txHash,
    transactionIndex: parseCount(log.transactionIndex, 'log.transactionIndex'),
    removed: false,
  };
}

function parseStatus(receipt: JsonRecord): 'success' | 'reverted' {
  const status = parseQuantity(receipt.status, 'status');
  if (status > 1n) throw new RpcUnavailableError("the answer's status is nonsense");
  return status === 1n ? 'success' : 'reverted';
}

/**
 * Reads the answer to `eth_getTransactionReceipt`: it must be of the transaction that was asked for, and from the account.
 *
 * @param value - the `result`
 * @param asked - the transaction's hash and the account's address, lower case
 * @returns the receipt, or undefined where there is none
 * @throws RpcUnavailableError where the answer is nonsense
 * @see https://ethereum.github.io/execution-apis/
 */
export function parseReceipt(value: unknown, asked: { hash: Hash; from: Address }): Receipt | undefined {
  if (value === null) return undefined;
  const receipt = parseRecord(value, 'receipt');
  const txHash = parseHash(receipt.transactionHash, 'transactionHash');
  if (txHash !== asked.hash) throw new RpcUnavailableError('the receipt is of another transaction');
  if (parseAddress(receipt.from, 'from') !== asked.from)
    throw new RpcUnavailableError('the receipt is of another sender');
  const blockHash = parseHash(receipt.blockHash, 'blockHash');
  const blockNumber = parseQuantity(receipt.blockNumber, 'blockNumber');
  const logs = parseArray(receipt.logs, 'logs').map((log) => parseLog(log, { txHash, blockHash, blockNumber }));
  return {
    txHash,
    blockHash,
    blockNumber,
    status: parseStatus(receipt),
    gasUsed: parseQuantity(receipt.gasUsed, 'gasUsed'),
    effectiveGasPrice: parseQuantity(receipt.effectiveGasPrice, 'effectiveGasPrice'),
    logs,
  };
}
