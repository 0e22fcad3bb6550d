import type { Hex, Log } from 'viem';
import { readBytes, readList, readQuantity, readRecord } from './readAnswer.ts';

/** Reads a log as nodes write it. @throws ChainError `RPC_ANSWER_INVALID` */
export function readLog(value: unknown): Log {
  const log = readRecord(value, 'log');
  return {
    address: readBytes(log.address, 'address'),
    data: readBytes(log.data, 'data'),
    // Whoever decodes it looks at each.
    topics: readList(log.topics, 'topics').map((topic) => readBytes(topic, 'topic')) as [Hex, ...Hex[]],
    blockHash: readBytes(log.blockHash, 'block hash'),
    blockNumber: readQuantity(log.blockNumber, 'block number'),
    transactionHash: readBytes(log.transactionHash, 'transaction hash'),
    transactionIndex: Number(readQuantity(log.transactionIndex, 'transaction index')),
    logIndex: Number(readQuantity(log.logIndex, 'log index')),
    removed: log.removed === true,
  };
}
