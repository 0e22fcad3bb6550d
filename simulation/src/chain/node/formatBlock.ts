import { type Hex, numberToHex, zeroHash } from 'viem';
import { priceAt } from '../fees.ts';
import type { BlockRecord, LogRecord, SignedTransaction, TransactionRecord } from '../records.ts';
import { EMPTY_ROOT, NO_REQUESTS, NO_UNCLES } from '../sealBlock.ts';

const TYPE_NUMBERS = { legacy: '0x0', eip2930: '0x1', eip1559: '0x2', eip7702: '0x4' } as const;
/** About what a header takes. */
const HEADER_BYTES = 640;

/** A word without zeros before it. */
const trim = (hex: Hex): Hex => `0x${hex.slice(2).replace(/^0+(?=.)/, '')}`;

/** A transaction as nodes write it. @param at - where it was mined; undefined: it waits */
export function formatTransaction(signed: SignedTransaction, at?: TransactionRecord): object {
  const { type, maxFeePerGas, maxPriorityFeePerGas, signature, authorizations } = signed;
  const isDynamic = type === 'eip1559' || type === 'eip7702';
  const gasPrice = at === undefined ? maxFeePerGas : priceAt(signed, at.block.baseFeePerGas);
  return {
    blockHash: at?.block.hash ?? null,
    blockNumber: at === undefined ? null : numberToHex(at.block.number),
    from: signed.from,
    gas: numberToHex(signed.gasLimit),
    gasPrice: numberToHex(gasPrice),
    ...(isDynamic && {
      maxFeePerGas: numberToHex(maxFeePerGas),
      maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
    }),
    hash: signed.hash,
    input: signed.data,
    nonce: numberToHex(signed.nonce),
    to: signed.to ?? null,
    transactionIndex: at === undefined ? null : numberToHex(at.index),
    value: numberToHex(signed.value),
    type: TYPE_NUMBERS[type],
    ...(type !== 'legacy' && { accessList: signed.accessList }),
    chainId: numberToHex(signed.chainId),
    ...(type === 'eip7702' && {
      authorizationList: authorizations.map(({ chainId, address, nonce, yParity, r, s }) => ({
        ...{ chainId: numberToHex(chainId), address, nonce: numberToHex(nonce) },
        ...{ yParity: numberToHex(yParity), r: trim(r), s: trim(s) },
      })),
    }),
    v: numberToHex(signature.v),
    r: trim(signature.r),
    s: trim(signature.s),
    ...(type !== 'legacy' && { yParity: numberToHex(signature.yParity) }),
  };
}

export function writeTransaction(record: TransactionRecord): object {
  record.json ??= formatTransaction(record.signed, record);
  return record.json;
}

export function writeLog(log: LogRecord): object {
  log.json ??= {
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: numberToHex(log.block.number),
    transactionHash: log.transactionHash,
    transactionIndex: numberToHex(log.transactionIndex),
    blockHash: log.block.hash,
    blockTimestamp: numberToHex(log.block.timestampSeconds),
    logIndex: numberToHex(log.logIndex),
    removed: false,
  };
  return log.json;
}

export function writeReceipt(record: TransactionRecord, makeBloom: (logs: readonly LogRecord[]) => Hex): object {
  const { block, signed } = record;
  record.receiptJson ??= {
    blockHash: block.hash,
    blockNumber: numberToHex(block.number),
    contractAddress: record.contractAddress ?? null,
    cumulativeGasUsed: numberToHex(record.cumulativeGasUsed),
    effectiveGasPrice: numberToHex(record.gasPrice),
    from: record.from,
    gasUsed: numberToHex(record.gasUsed),
    logs: record.logs.map(writeLog),
    logsBloom: makeBloom(record.logs),
    status: record.isSuccess ? '0x1' : '0x0',
    to: record.to ?? null,
    transactionHash: record.hash,
    transactionIndex: numberToHex(record.index),
    type: TYPE_NUMBERS[signed.type],
  };
  return record.receiptJson;
}

/** The header's members in the order that geth has. */
export function formatHeader(block: BlockRecord) {
  return {
    baseFeePerGas: numberToHex(block.baseFeePerGas),
    blobGasUsed: '0x0',
    difficulty: '0x0',
    excessBlobGas: '0x0',
    extraData: '0x',
    gasLimit: numberToHex(block.gasLimit),
    gasUsed: numberToHex(block.gasUsed),
    hash: block.hash,
    logsBloom: block.logsBloom,
    miner: block.feeRecipient,
    mixHash: block.prevRandao,
    nonce: '0x0000000000000000',
    number: numberToHex(block.number),
    parentBeaconBlockRoot: zeroHash,
    parentHash: block.parentHash,
    receiptsRoot: block.receiptsRoot,
    requestsHash: NO_REQUESTS,
    sha3Uncles: NO_UNCLES,
    size: numberToHex(
      HEADER_BYTES + block.transactions.reduce((sum, { signed }) => sum + (signed.raw.length - 2) / 2, 0),
    ),
    stateRoot: block.stateRoot,
    timestamp: numberToHex(block.timestampSeconds),
    transactionsRoot: block.transactionsRoot,
    uncles: [],
    withdrawals: [],
    withdrawalsRoot: EMPTY_ROOT,
  };
}

export function writeBlock(block: BlockRecord): object {
  block.json ??= { ...formatHeader(block), transactions: block.transactions.map(({ hash }) => hash) };
  return block.json;
}

export function writeFullBlock(block: BlockRecord): object {
  block.fullJson ??= { ...formatHeader(block), transactions: block.transactions.map(writeTransaction) };
  return block.fullJson;
}
