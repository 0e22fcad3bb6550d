import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import type { Hex, Log } from 'viem';
import { keccak256, numberToHex, padHex, toHex } from 'viem/utils';
import type { Rpc } from './createRpc.ts';
import { readBytes, readList, readQuantity, readRecord } from './readAnswer.ts';

/** Signature of the Forwarder's event. */
const REQUEST_EXECUTED = keccak256(toHex('RequestExecuted(address,uint256,bytes32,bool,address,uint256,bytes)'));

/** An execution that a log tells of. */
export interface Execution extends RequestExecuted {
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

function readLog(value: unknown): Log {
  const log = readRecord(value, 'log');
  return {
    address: readBytes(log.address, 'address'),
    data: readBytes(log.data, 'data'),
    // A log has a signature among its topics, or it would not have been found.
    topics: readList(log.topics, 'topics').map((topic) => readBytes(topic, 'topic')) as [Hex, ...Hex[]],
    blockHash: readBytes(log.blockHash, 'block hash'),
    blockNumber: readQuantity(log.blockNumber, 'block number'),
    transactionHash: readBytes(log.transactionHash, 'transaction hash'),
    transactionIndex: Number(readQuantity(log.transactionIndex, 'transaction index')),
    logIndex: Number(readQuantity(log.logIndex, 'log index')),
    removed: log.removed === true,
  };
}

/**
 * Looks for the transaction that consumed a signer's forwarder nonce.
 *
 * @param source.fromBlock - where the search begins
 * @returns the one execution; undefined where the node's logs hold none (yet)
 * @throws ChainError
 * @see DECISIONS.md, "Whose word counts"
 */
export async function findExecution(source: {
  readonly rpc: Rpc;
  readonly forwarder: Hex;
  readonly signer: Hex;
  readonly nonce: bigint;
  readonly fromBlock: bigint;
}): Promise<Execution | undefined> {
  const { rpc, forwarder, signer, nonce, fromBlock } = source;
  const topics = [REQUEST_EXECUTED, padHex(signer, { size: 32 }), numberToHex(nonce, { size: 32 })];
  const filter = { address: forwarder, topics, fromBlock: numberToHex(fromBlock), toBlock: 'latest' };
  for (const answer of readList(await rpc.call('eth_getLogs', [filter]), 'logs')) {
    const log = readLog(answer);
    const [event] = log.removed ? [] : readRequestExecuted({ logs: [log], forwarder });
    // Entries that failed in a batch name the nonce that still stood; only what succeeded has consumed it.
    if (event?.success !== true || event.nonce !== nonce || event.signer.toLowerCase() !== signer.toLowerCase())
      continue;
    // `readLog` has read both.
    return { ...event, txHash: log.transactionHash as Hex, blockNumber: log.blockNumber as bigint };
  }
  return undefined;
}
