import {
  type JsonRecord,
  parseAddress,
  parseArray,
  parseHash,
  parseLog,
  parseQuantity,
  parseRecord,
  RpcUnavailableError,
} from '@prism-gateway/node/rpc';
import type { Address, Hash, Log } from 'viem';

/** A receipt, as far as it matters here. */
export interface Receipt {
  readonly txHash: Hash;
  readonly blockHash: Hash;
  readonly blockNumber: bigint;
  readonly status: 'success' | 'reverted';
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  /** The price of the data beside the gas, in wei, as OP-stack chains report it; 0 on others. */
  readonly dataFee: bigint;
  readonly logs: readonly Log[];
}

/** Reads a log of a receipt, of which it has the block. */
function readLog(value: unknown, receipt: { txHash: Hash; blockHash: Hash; blockNumber: bigint }): Log {
  const { txHash, blockHash, blockNumber } = receipt;
  const log = parseLog(value, 'log');
  if (log.transactionHash !== txHash) {
    throw new RpcUnavailableError('a log in the receipt belongs to another transaction', {
      code: 'RPC_ANSWER_INVALID',
    });
  }
  return { ...log, blockHash, blockNumber, removed: false };
}

function parseStatus(receipt: JsonRecord): 'success' | 'reverted' {
  const status = parseQuantity(receipt.status, 'status');
  if (status > 1n) throw new RpcUnavailableError("the answer's status is nonsense");
  return status === 1n ? 'success' : 'reverted';
}

/** Absent, or null in the receipts of transactions that pay none. */
function readAmount(receipt: JsonRecord, name: string): bigint {
  return receipt[name] == null ? 0n : parseQuantity(receipt[name], name);
}

/**
 * The operator's charge on an OP-stack chain: since Isthmus a millionth of the scalar for each gas, and since Jovian, which brought the
 * scalar of the footprint into receipts, a hundred times the scalar; and a constant.
 *
 * @see https://specs.optimism.io/protocol/jovian/exec-engine.html#operator-fee
 */
function readOperatorFee(receipt: JsonRecord): bigint {
  const scaled = parseQuantity(receipt.gasUsed, 'gasUsed') * readAmount(receipt, 'operatorFeeScalar');
  const isJovian = receipt.daFootprintGasScalar != null;
  return (isJovian ? scaled * 100n : scaled / 1_000_000n) + readAmount(receipt, 'operatorFeeConstant');
}

/**
 * Reads the answer to `eth_getTransactionReceipt`: it must be of the transaction that was asked for, and from the account.
 *
 * @param value - the `result`
 * @param asked - the transaction's hash and the account's address, lower case
 * @returns the receipt, or undefined if there is none
 * @throws RpcUnavailableError if the answer is nonsense
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
  const logs = parseArray(receipt.logs, 'logs').map((log) => readLog(log, { txHash, blockHash, blockNumber }));
  return {
    txHash,
    blockHash,
    blockNumber,
    status: parseStatus(receipt),
    gasUsed: parseQuantity(receipt.gasUsed, 'gasUsed'),
    effectiveGasPrice: parseQuantity(receipt.effectiveGasPrice, 'effectiveGasPrice'),
    dataFee: readAmount(receipt, 'l1Fee') + readOperatorFee(receipt),
    logs,
  };
}
