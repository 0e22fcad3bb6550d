import { forwarderAbi } from '@prism-gateway/contracts';
import { parseArray, parseLog } from '@prism-gateway/node/rpc';
import type { Hex } from 'viem';
import { encodeEventTopics, numberToHex } from 'viem/utils';
import { ChainError } from './chainError.ts';
import { type BlockHead, readNonceAt } from './chainReader.ts';
import { type ReadRpc, readBlockTime } from './createChainRpc.ts';
import { type BlockRange, createWalkBack } from './createWalkBack.ts';
import { type Execution, readExecutions } from './readExecutions.ts';

/** The execution to find; the search goes from the newest block back. */
interface ExecutionQuery {
  readonly signer: Hex;
  /** The forwarder nonce that was used; undefined: any. */
  readonly nonce?: bigint;
  /** Unix seconds between which the block must be; default any. */
  readonly since?: bigint;
  readonly until?: bigint;
  /** The oldest block that counts; default all of the Forwarder's. */
  readonly from?: bigint;
  /** The newest block that counts. */
  readonly head: Pick<BlockHead, 'number' | 'timestamp'>;
  /** Whether it is the one; default the first that is found. */
  readonly isWanted?: (execution: Execution) => boolean;
}

/**
 * Looks for the transaction that consumed a signer's forwarder nonce.
 *
 * @returns the one execution; undefined if the node's logs hold none (yet)
 * @throws ChainError
 * @see docs/specification.md RELAY-5
 */
export type FindExecution = (query: ExecutionQuery) => Promise<Execution | undefined>;

/**
 * Makes the search for executions on one chain.
 *
 * @param options.fromBlock - where the Forwarder's events begin
 */
export function createFindExecution(options: {
  readonly rpc: ReadRpc;
  readonly forwarder: Hex;
  readonly fromBlock: bigint;
}): FindExecution {
  const { rpc, forwarder, fromBlock } = options;
  const walkBack = createWalkBack();
  return async function findExecution(query) {
    const { signer, nonce, since = 0n, until, from = fromBlock, head, isWanted = () => true } = query;
    const toBlock = until === undefined ? head.number : await findBlockAt({ rpc, seconds: until, fromBlock, head });
    const read = readExecutions.bind(undefined, { rpc, forwarder, signer, nonce });
    for await (const { executions, oldestSeconds } of walkBack({ fromBlock: from, toBlock }, read)) {
      const found = executions.find(isWanted);
      if (found !== undefined || (oldestSeconds !== undefined && oldestSeconds < since)) return found;
    }
    return undefined;
  };
}

/** A block's assumed time, in seconds, until two of them are known. */
const USUAL_BLOCK_SECONDS = 12;

/**
 * Finds the newest block that is no later than a time. Blocks come about evenly, so two or three are read; each third one halves what is
 * left, for chains on which they do not.
 *
 * @param search.seconds - Unix time
 * @param search.fromBlock - the oldest block that is looked at
 * @param search.head - the newest one
 * @returns its number; one before `fromBlock` if all are later
 * @throws ChainError
 */
export async function findBlockAt(search: {
  readonly rpc: ReadRpc;
  readonly seconds: bigint;
  readonly fromBlock: bigint;
  readonly head: { readonly number: bigint; readonly timestamp: bigint };
}): Promise<bigint> {
  const { rpc, seconds, fromBlock, head } = search;
  if (head.timestamp <= seconds) return head.number;
  let [early, late] = [fromBlock - 1n, head];
  let blockSeconds = USUAL_BLOCK_SECONDS;
  for (let reads = 1; late.number - early > 1n; reads++) {
    const blocks = BigInt(Math.ceil(Number(late.timestamp - seconds) / blockSeconds));
    const guess = reads % 3 === 0 ? (early + late.number) / 2n : late.number - blocks;
    const number = guess > early ? guess : early + 1n;
    const timestamp = await readBlockTime(rpc, number);
    if (timestamp === undefined) throw new ChainError('RPC_UNAVAILABLE', `The node does not have block ${number}.`);
    blockSeconds = Math.max(Number(late.timestamp - timestamp) / Number(late.number - number), 0.01);
    if (timestamp <= seconds) early = number;
    else late = { number, timestamp };
  }
  return early;
}

/**
 * Looks by the state of one block how far the logs have to be searched for the use of a forwarder nonce: what used it before a request could
 * be carried out was not that request, and may be years back.
 *
 * @param query.seconds - the request's time stamp, in Unix seconds: before it the Forwarder does not carry it out
 * @param query.deepest - the newest block that is deep enough
 * @returns the first block in which it can have been used; `earlier` if it was used before the request could be
 */
export type FindFirstUse = (query: {
  readonly signer: Hex;
  readonly nonce: bigint;
  readonly seconds: bigint;
  readonly head: Pick<BlockHead, 'number' | 'timestamp'>;
  readonly deepest: bigint;
}) => Promise<bigint | 'earlier'>;

/**
 * Makes that look on one chain. If a node has forgotten the state of that block all logs are searched: such nodes are the operator's own,
 * which answer for any number of blocks.
 *
 * @param options.fromBlock - where the Forwarder's events begin
 */
export function createFindFirstUse(options: {
  readonly rpc: ReadRpc;
  readonly forwarder: Hex;
  readonly fromBlock: bigint;
}): FindFirstUse {
  const { rpc, fromBlock } = options;
  return async function findFirstUse({ signer, nonce, seconds, head, deepest }) {
    try {
      const last = await findBlockAt({ rpc, seconds: seconds - 1n, fromBlock, head });
      const isDeep = last <= deepest;
      const block = isDeep ? last : deepest;
      if (block < fromBlock) return fromBlock;
      return (await readNonceAt(options, { signer, block })) > nonce ? 'earlier' : block + 1n;
    } catch (error) {
      if (error instanceof ChainError) return fromBlock;
      throw error;
    }
  };
}

/** A transaction by which a signer has taken back what it had signed with a forwarder nonce. */
interface Invalidation {
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

/**
 * Looks for the transaction by which a signer took back a forwarder nonce.
 *
 * @param query.from - the oldest block that counts; default all of the Forwarder's
 * @param query.head - the newest one
 * @returns undefined if the node's logs hold none (yet)
 * @throws ChainError
 * @see docs/specification.md CHAIN-19
 */
export type FindInvalidation = (query: {
  readonly signer: Hex;
  readonly nonce: bigint;
  readonly from?: bigint;
  readonly head: Pick<BlockHead, 'number'>;
}) => Promise<Invalidation | undefined>;

/**
 * Makes the search for forwarder nonces that were taken back on one chain.
 *
 * @param options.fromBlock - where the Forwarder's events begin
 */
export function createFindInvalidation(options: {
  readonly rpc: ReadRpc;
  readonly forwarder: Hex;
  readonly fromBlock: bigint;
}): FindInvalidation {
  const { rpc, forwarder, fromBlock } = options;
  const walkBack = createWalkBack();

  async function read(topics: unknown, range: BlockRange): Promise<readonly Invalidation[] | undefined> {
    const [from, to] = [numberToHex(range.fromBlock), numberToHex(range.toBlock)];
    try {
      return await rpc.read(['eth_getLogs', { address: forwarder, topics, fromBlock: from, toBlock: to }], (logs) =>
        parseArray(logs, 'logs')
          .map((log) => parseLog(log, 'log'))
          .filter(({ removed }) => !removed)
          // `parseLog` has read both.
          .map((log) => ({ txHash: log.transactionHash as Hex, blockNumber: log.blockNumber as bigint })),
      );
    } catch (error) {
      // It may answer for fewer blocks.
      if (error instanceof ChainError && error.code === 'RPC_UNAVAILABLE') return undefined;
      throw error;
    }
  }

  return async function findInvalidation({ signer, nonce, from = fromBlock, head }) {
    const topics = encodeEventTopics({ abi: forwarderAbi, eventName: 'NonceInvalidated', args: { signer, nonce } });
    const pages = walkBack({ fromBlock: from, toBlock: head.number }, (range) => read(topics, range));
    for await (const [found] of pages) if (found !== undefined) return found;
    return undefined;
  };
}
