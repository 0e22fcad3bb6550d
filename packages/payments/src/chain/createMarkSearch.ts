import { creditTokenAbi } from '@prism-gateway/contracts';
import {
  type Address,
  decodeFunctionData,
  type Hash,
  type Hex,
  numberToHex,
  type PublicClient,
  pad,
  parseTransaction,
  toEventSelector,
} from 'viem';
import type { BroadcastTable } from '../journal/broadcastTable.ts';
import type { MarkedTransaction, MarkTable, Place } from '../journal/markTable.ts';
import { readMark } from './marks.ts';

/** Where relayers leave their marks. */
export interface MarkSearchOptions {
  readonly client: PublicClient;
  readonly marks: MarkTable;
  /** What this instance has broadcast need not be fetched. */
  readonly broadcasts: BroadcastTable;
  readonly self: Address;
  readonly creditToken: Address;
  readonly stablecoin: Address;
  /** Every address that may have paid, this instance's among them. */
  readonly relayers: readonly Address[];
  /** Where the first search begins. */
  readonly fromBlock: number;
  /** Blocks that may be replaced: they are searched again each time. */
  readonly reorgDepth: number;
  /** Milliseconds, of a clock that never goes back. */
  readonly monotonicNow: () => number;
  /** Ends a search after the query that it is at; the first one may take minutes. */
  readonly signal: AbortSignal;
}

/** Follows the chain for marks of known relayers. */
export interface MarkSearch {
  /**
   * Searches up to the newest block. Calls at the same time share a search that begins after they were made.
   *
   * @returns the newest block, and when the search began on the monotonic clock
   * @throws viem's errors; the signal's reason
   */
  search(): Promise<SearchResult>;
}

/** What a search covered. */
export interface SearchResult {
  readonly headBlock: number;
  readonly beganAtMs: number;
}

const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');
/** Blocks of one query at first, and at most; nodes that allow fewer make it smaller. */
const MAX_RANGE = 10_000;

interface RawLog {
  readonly transactionHash: Hash;
  readonly blockNumber: Hex;
  readonly transactionIndex: Hex;
}

/** Reads what a relayer's transaction says. */
export function describeTransaction(
  transaction: { readonly hash: Hash; readonly from: Address; readonly to: Address | null; readonly input: Hex },
  creditToken: Address,
): MarkedTransaction {
  const base = { txHash: transaction.hash, sender: lower(transaction.from) };
  const mark = readMark(transaction.input);
  if (mark === undefined) return { ...base, kind: 'none' };
  if (transaction.to === null || lower(transaction.to) !== lower(creditToken))
    return { ...base, kind: 'announce', mark };
  try {
    const { functionName, args } = decodeFunctionData({ abi: creditTokenAbi, data: transaction.input });
    if (functionName !== 'transfer') return { ...base, kind: 'none' };
    const [recipient, amount] = args;
    if (lower(recipient) === base.sender && amount === 0n) return { ...base, kind: 'announce', mark };
    return { ...base, kind: 'payout', mark, recipient: lower(recipient), amount };
  } catch {
    return { ...base, kind: 'none' };
  }
}

function lower(address: Address): Address {
  // Lower case of an address is an address.
  return address.toLowerCase() as Address;
}

/**
 * Creates the search. Every payout and announcement moves a token away from a relayer, or nothing to itself; so its `Transfer` logs
 * lead to all of them, and the calldata says which payment it is.
 *
 * @param options - chain, table and addresses
 * @returns the search
 */
export function createMarkSearch(options: MarkSearchOptions): MarkSearch {
  const { client, marks, reorgDepth, monotonicNow } = options;
  const senders = options.relayers.map((relayer) => pad(relayer, { size: 32 }));
  let range = MAX_RANGE;

  async function readLogs(fromBlock: number, toBlock: number): Promise<readonly RawLog[]> {
    const filter = {
      address: [options.creditToken, options.stablecoin],
      topics: [TRANSFER_TOPIC, senders],
      fromBlock: numberToHex(fromBlock),
      toBlock: numberToHex(toBlock),
    };
    // viem's own action takes one event of one ABI; the answer is that of the JSON-RPC method.
    return (await client.request({ method: 'eth_getLogs', params: [filter] } as never)) as readonly RawLog[];
  }

  async function readTransaction(hash: Hash): Promise<MarkedTransaction> {
    const own = options.broadcasts.find(hash);
    if (own !== undefined) {
      // Only EIP-1559 transactions are broadcast.
      const { to = null, data: input = '0x' } = parseTransaction(own as `0x02${string}`);
      return describeTransaction({ hash, from: options.self, to, input }, options.creditToken);
    }
    const transaction = await client.request({ method: 'eth_getTransactionByHash', params: [hash] });
    if (transaction === null) throw new Error(`the node has a log of ${hash}, and not its transaction`);
    return describeTransaction(transaction, options.creditToken);
  }

  async function searchRange(fromBlock: number, toBlock: number): Promise<void> {
    const logs = await readLogs(fromBlock, toBlock);
    const places = new Map<Hash, Place>();
    for (const { transactionHash: txHash, blockNumber, transactionIndex } of logs) {
      places.set(txHash, { txHash, blockNumber: Number(blockNumber), txIndex: Number(transactionIndex) });
    }
    const unknown = [...places.keys()].filter((hash) => !marks.has(hash));
    const added = await Promise.all(unknown.map(readTransaction));
    marks.replaceRange({ fromBlock, toBlock, added, places: [...places.values()] });
  }

  async function searchAll(): Promise<SearchResult> {
    const beganAtMs = monotonicNow();
    const headBlock = Number(await client.request({ method: 'eth_blockNumber' }));
    const cursor = marks.cursor();
    let fromBlock =
      cursor === undefined ? options.fromBlock : Math.max(0, Math.min(cursor, headBlock) - reorgDepth + 1);
    while (fromBlock <= headBlock) {
      options.signal.throwIfAborted();
      const toBlock = Math.min(headBlock, fromBlock + range - 1);
      try {
        await searchRange(fromBlock, toBlock);
        fromBlock = toBlock + 1;
        // It may have failed for another reason than its size.
        range = Math.min(MAX_RANGE, range * 2);
      } catch (error) {
        // Nodes limit how many blocks or logs a query may cover, each in its own words.
        if (toBlock === fromBlock || range <= reorgDepth) throw error;
        range = Math.max(1, Math.floor(range / 4));
      }
    }
    return { headBlock, beganAtMs };
  }

  let running: Promise<SearchResult> | undefined;
  let next: Promise<SearchResult> | undefined;

  function start(): Promise<SearchResult> {
    const search = searchAll().finally(() => {
      running = next;
      next = undefined;
    });
    return search;
  }

  return {
    search() {
      if (running === undefined) {
        running = start();
        return running;
      }
      // The one that runs may have looked too early for this caller.
      const previous = running;
      next ??= previous.then(start, start);
      return next;
    },
  };
}
