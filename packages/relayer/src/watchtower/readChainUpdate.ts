import { readRequestExecuted } from '@prism-gateway/contracts';
import { parseArray, parseCount, parseHash, parseLog, parseQuantity, parseRecord } from '@prism-gateway/node/rpc';
import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import { ChainError } from '../chain/chainError.ts';
import type { ReadRpc } from '../chain/createChainRpc.ts';
import { createWalkBack, type WalkBack } from '../chain/createWalkBack.ts';
import { findBlockAt } from '../chain/findExecution.ts';
import { readExecutions } from '../chain/readExecutions.ts';
import type { SeenHead, StoredExecution } from './journal/openSeenChain.ts';

/** The chain's changes since the last look. */
export interface ChainUpdate {
  readonly head: SeenHead;
  /** The head, and the blocks before it that no look has seen; oldest first. */
  readonly heads: readonly SeenHead[];
  /** The newest block that is as it was seen; what stood above it is gone. Undefined: nothing is gone. */
  readonly fork: bigint | undefined;
  /** How many blocks that were seen are gone. */
  readonly lostBlocks: bigint;
  readonly executions: readonly StoredExecution[];
}

/** Whom the chain is asked for. */
export interface WatchedChain {
  readonly rpc: ReadRpc;
  readonly forwarder: Hex;
  /** Where the Forwarder's events begin. */
  readonly fromBlock: bigint;
}

/** A block as a node has it now. */
interface Head extends SeenHead {
  readonly parentHash: Hex;
}

async function readHead(rpc: WatchedChain['rpc'], block: bigint | 'latest'): Promise<Head | undefined> {
  const tag = block === 'latest' ? block : numberToHex(block);
  return await rpc.read(['eth_getBlockByNumber', tag, false], (answer) => {
    if (answer === null && block !== 'latest') return undefined;
    const { number, hash, parentHash, timestamp, baseFeePerGas = '0x0' } = parseRecord(answer, 'block');
    return {
      number: parseQuantity(number, 'block number'),
      hash: parseHash(hash, 'block hash'),
      parentHash: parseHash(parentHash, 'parent hash'),
      seconds: parseQuantity(timestamp, 'block time'),
      baseFee: parseQuantity(baseFeePerGas, 'base fee'),
    };
  });
}

/** The newest of the heads that the chain still has; undefined if it has none of them. */
async function findKept(
  rpc: WatchedChain['rpc'],
  seen: readonly SeenHead[],
  newest: Head,
): Promise<SeenHead | undefined> {
  for (const head of seen) {
    if (head.hash === newest.hash || head.hash === newest.parentHash) return head;
    const now = await readHead(rpc, head.number);
    if (now?.hash === head.hash) return head;
  }
  return undefined;
}

/**
 * Reads every execution in a range of blocks.
 *
 * @returns oldest first
 * @throws ChainError
 */
export async function readAllExecutions(
  { rpc, forwarder, walkBack }: Pick<WatchedChain, 'rpc' | 'forwarder'> & { readonly walkBack: WalkBack },
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<readonly StoredExecution[]> {
  const read = readExecutions.bind(undefined, { rpc, forwarder, signer: undefined, nonce: undefined });
  const found: StoredExecution[] = [];
  for await (const { executions } of walkBack(range, read)) {
    for (const { txHash, logIndex, blockNumber, signer, nonce, digest, relayer } of executions) {
      // Addresses and hashes are compared in lower case; a mined log has its place.
      const lower = (hex: Hex) => hex.toLowerCase() as Hex;
      const who = { signer: lower(signer), relayer: lower(relayer), digest: lower(digest), txHash: lower(txHash) };
      found.push({ ...who, logIndex: logIndex ?? 0, block: blockNumber, nonce, deepSeconds: undefined });
    }
  }
  return found.toReversed();
}

/** The first block that has not been read: on the first look, the first one of the time that is looked at. */
async function findStart(chain: WatchedChain, { head, sinceSeconds }: { head: SeenHead; sinceSeconds: bigint }) {
  const { rpc, fromBlock } = chain;
  const newest = { number: head.number, timestamp: head.seconds };
  return (await findBlockAt({ rpc, seconds: sinceSeconds, fromBlock, head: newest })) + 1n;
}

/** The blocks right before the head that no look has seen, so that the depth of a later reorganisation is known. */
async function readSkipped(rpc: WatchedChain['rpc'], range: { after: bigint; head: SeenHead; depth: bigint }) {
  const { after, head, depth } = range;
  const numbers: bigint[] = [];
  for (let block = head.number - 1n; block > after && block >= head.number - depth; block -= 1n) numbers.push(block);
  const heads = await Promise.all(numbers.map((number) => readHead(rpc, number)));
  return heads.filter((each) => each !== undefined).toReversed();
}

/** So long a node may be behind what was seen, in milliseconds: a block far ahead that a node once made up would blind the watch for ever. */
const LONGEST_LAG_MS = 900_000;

/**
 * Makes the look at a chain: what is new since what was seen, and what of that is gone.
 *
 * @returns the look; its `sinceSeconds` says how far back the first one goes, in Unix seconds. It throws ChainError if the node does
 * not answer, or is behind what was seen
 */
export function createChainLook(
  chain: WatchedChain & {
    readonly confirmations: bigint;
    /** Milliseconds of a clock that is never set. */
    readonly monotonicNow: () => number;
  },
) {
  const { rpc, forwarder, fromBlock, confirmations, monotonicNow } = chain;
  const walkBack = createWalkBack();
  let behindSinceMs: number | undefined;
  /** @throws ChainError if the node is behind what was seen; if it is for long, that was made up, and is gone */
  function checkNewest(head: Head, newest: SeenHead): void {
    behindSinceMs = head.number >= newest.number ? undefined : (behindSinceMs ?? monotonicNow());
    if (behindSinceMs !== undefined && monotonicNow() - behindSinceMs < LONGEST_LAG_MS)
      throw new ChainError('RPC_UNAVAILABLE', `The node is at block ${head.number}, and ${newest.number} was seen.`);
  }
  return async function look(
    seen: readonly SeenHead[],
    { sinceSeconds }: { readonly sinceSeconds: bigint },
  ): Promise<ChainUpdate> {
    const [newest] = seen;
    // The newest block is always there.
    const head = (await readHead(rpc, 'latest')) as Head;
    if (newest !== undefined) checkNewest(head, newest);
    const kept = newest === undefined ? undefined : await findKept(rpc, seen, head);
    // With none of the heads left, all that was seen is gone.
    const lowest = kept?.number ?? (seen.at(-1)?.number ?? 0n) - 1n;
    const isFirst = newest === undefined || lowest > head.number;
    const first = isFirst ? await findStart(chain, { head, sinceSeconds }) : lowest + 1n;
    const range = { fromBlock: first < fromBlock ? fromBlock : first, toBlock: head.number };
    const isEmpty = range.fromBlock > range.toBlock;
    const [executions, skipped] = await Promise.all([
      isEmpty ? [] : readAllExecutions({ rpc, forwarder, walkBack }, range),
      readSkipped(rpc, { after: first - 1n, head, depth: confirmations }),
    ]);
    const fork = newest === undefined || kept === newest ? undefined : lowest;
    const lostBlocks = fork === undefined || newest === undefined ? 0n : newest.number - fork;
    return { heads: [...skipped, head], head, fork, lostBlocks, executions };
  };
}

/** Reads the executions that other contracts than the Forwarder emit in a transaction, as if they were one. @throws ChainError */
export async function readForeignEvents(
  { rpc, forwarder }: { readonly rpc: ReadRpc; readonly forwarder: Hex },
  txHash: Hex,
): Promise<readonly { readonly address: Hex; readonly signer: Hex; readonly nonce: bigint }[]> {
  return await rpc.read(['eth_getTransactionReceipt', txHash], (answer) => {
    if (answer === null) return [];
    const logs = parseArray(parseRecord(answer, 'receipt').logs, 'logs').map((log) => parseLog(log, 'log'));
    const others = new Set(logs.map(({ address }) => address.toLowerCase() as Hex).filter((one) => one !== forwarder));
    return [...others].flatMap((address) =>
      readRequestExecuted({ logs, forwarder: address })
        .filter(({ success }) => success)
        .map(({ signer, nonce }) => ({ address, signer: signer.toLowerCase() as Hex, nonce })),
    );
  });
}

/**
 * Reads the executions that a transaction's own events show.
 *
 * @returns none if it is not mined, or nothing of the Forwarder's is in it
 * @throws ChainError
 */
export async function readExecutionsIn(
  { rpc, forwarder }: { readonly rpc: ReadRpc; readonly forwarder: Hex },
  txHash: Hex,
): Promise<readonly StoredExecution[]> {
  return await rpc.read(['eth_getTransactionReceipt', txHash], (answer) => {
    if (answer === null) return [];
    const { logs: given, blockNumber } = parseRecord(answer, 'receipt');
    const logs = parseArray(given, 'logs').map((log) => parseLog(log, 'log'));
    const block = BigInt(parseCount(blockNumber, 'block number'));
    const lower = (hex: Hex) => hex.toLowerCase() as Hex;
    return readRequestExecuted({ logs, forwarder })
      .filter(({ success }) => success)
      .map(({ digest, signer, nonce, relayer, logIndex }) => ({
        ...{ txHash, block, nonce, logIndex: logIndex ?? 0, deepSeconds: undefined },
        ...{ digest: lower(digest), signer: lower(signer), relayer: lower(relayer) },
      }));
  });
}
