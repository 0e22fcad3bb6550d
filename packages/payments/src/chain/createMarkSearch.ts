import { type Address, type Hash, type PublicClient, parseTransaction } from 'viem';
import type { BroadcastTable } from '../journal/createBroadcastTable.ts';
import type { MarkedTransaction, MarkTable } from '../journal/createMarkTable.ts';
import { type ChainLook, createChainView, NodeBehindError } from './createChainView.ts';
import { createLogReader, type LogQuery } from './createLogReader.ts';
import { describeTransaction } from './describeTransaction.ts';

/** Where relayers leave their marks. */
export interface MarkSearchOptions {
  readonly client: PublicClient;
  readonly marks: MarkTable;
  /** What this instance has broadcast need not be fetched. */
  readonly broadcasts: BroadcastTable;
  readonly chainId: number;
  readonly self: Address;
  readonly creditToken: Address;
  /** Every address that may have paid, this instance's among them. */
  readonly relayers: readonly Address[];
  /** Where the search for an address begins that was never searched for on this chain and token. */
  readonly fromBlock: number;
  /** Blocks that may be replaced: they are searched again each time, and compared with their headers. */
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
   * @param options.notOlderMs - a search that began no longer ago, in milliseconds, serves as well; default 0
   * @returns the newest block, and when the search began on the monotonic clock
   * @throws NodeBehindError where head, headers and logs do not agree; viem's errors; the signal's reason
   */
  search(options?: { readonly notOlderMs?: number }): Promise<SearchResult>;
  /** The chain was seen to have this block: nothing that ends below it is believed. */
  saw(blockNumber: number): void;
  /** Has everything searched from the beginning again. */
  startOver(): void;
}

/** What a search covered. */
export interface SearchResult {
  readonly headBlock: number;
  readonly beganAtMs: number;
}

/** Blocks of one query at first, and at most; nodes that allow fewer make it smaller. */
const MAX_RANGE = 10_000;
/** Queries that are answered before one of a size that was not is tried again. */
const RETRY_LARGE_AFTER = 8;
/** Transactions that are asked for at a time. */
const MAX_READS = 50;
/**
 * Creates the search. Every payout moves credits away from a relayer; so the token's `Transfer` logs
 * lead to all of them, and the calldata says which payment it is.
 *
 * @param options - chain, table, token and addresses
 * @returns the search
 * @see docs/payments.md, "The search"
 */
export function createMarkSearch(options: MarkSearchOptions): MarkSearch {
  const { client, marks, reorgDepth, monotonicNow, creditToken } = options;
  const scope = [options.chainId, creditToken].join(' ').toLowerCase();
  // Lower case of an address is an address.
  const relayers = [...new Set(options.relayers.map((relayer) => relayer.toLowerCase() as Address))];
  const view = createChainView({ client, depth: reorgDepth });
  const readPlaces = createLogReader(options);
  let range = MAX_RANGE;
  /** Blocks of the smallest query that was not answered of late, and how many were answered since. */
  let tooLarge = Number.POSITIVE_INFINITY;
  let answered = 0;
  let sawBlock = 0;

  /** Anybody can have a token log a transfer of nothing out of a relayer, under calldata of a payout's form: only relayers leave marks. */
  function believe(told: MarkedTransaction): MarkedTransaction {
    if (relayers.includes(told.sender)) return told;
    return { txHash: told.txHash, sender: told.sender, kind: 'none' };
  }

  async function readTransaction(hash: Hash): Promise<MarkedTransaction> {
    const own = options.broadcasts.find(hash);
    if (own !== undefined) {
      // Only EIP-1559 transactions are broadcast.
      const { to = null, data: input = '0x' } = parseTransaction(own as `0x02${string}`);
      return describeTransaction({ hash, from: options.self, to, input }, creditToken);
    }
    const transaction = await client.request({ method: 'eth_getTransactionByHash', params: [hash] });
    if (transaction === null) throw new NodeBehindError(`it has a log of ${hash}, and not its transaction`);
    return believe(describeTransaction(transaction, creditToken));
  }

  /** Where each relayer's search goes on, lowest block first. */
  function planStarts(head: number): ReadonlyMap<Address, number> {
    return new Map(
      relayers.map((relayer) => {
        const cursor = marks.cursor(scope, relayer);
        if (cursor === undefined) return [relayer, options.fromBlock];
        return [relayer, Math.max(0, Math.min(cursor, head) - reorgDepth + 1)];
      }),
    );
  }

  async function searchRange(query: LogQuery, look: ChainLook): Promise<void> {
    const places = await readPlaces(query, look);
    const unknown = places.map(({ txHash }) => txHash).filter((hash) => !marks.has(hash));
    const added: MarkedTransaction[] = [];
    // Anybody can have logs made by the thousand: they cost time, a few at a time, and the first that is none ends it.
    for (let first = 0; first < unknown.length; first += MAX_READS) {
      options.signal.throwIfAborted();
      added.push(...(await Promise.all(unknown.slice(first, first + MAX_READS).map(readTransaction))));
    }
    marks.replaceRange({ ...query, scope, added, places });
  }

  /** Lets queries grow again, up to what was too large; later that is tried anew, for it may have failed for another reason. */
  function grow(): void {
    answered++;
    if (range * 2 >= tooLarge && answered < RETRY_LARGE_AFTER) return;
    if (range * 2 >= tooLarge) tooLarge = Number.POSITIVE_INFINITY;
    range = Math.min(MAX_RANGE, range * 2);
  }

  /** Makes a query smaller that a node does not answer: each limits blocks or logs, and says so in its own words. */
  async function searchSmaller(query: LogQuery, look: ChainLook): Promise<number> {
    const { fromBlock } = query;
    const toBlock = Math.min(query.toBlock, fromBlock + range - 1);
    try {
      await searchRange({ ...query, toBlock }, look);
      grow();
      return toBlock + 1;
    } catch (error) {
      if (error instanceof NodeBehindError || toBlock === fromBlock) throw error;
      answered = 0;
      tooLarge = toBlock - fromBlock + 1;
      range = Math.max(1, Math.floor(tooLarge / 4));
      return fromBlock;
    }
  }

  async function searchAll(): Promise<SearchResult> {
    const beganAtMs = monotonicNow();
    const cursors = relayers.map((relayer) => marks.cursor(scope, relayer) ?? 0);
    const look = await view.look(Math.max(sawBlock, ...cursors));
    const headBlock = look.head.number;
    const starts = planStarts(headBlock);
    let fromBlock = Math.min(...starts.values());
    while (fromBlock <= headBlock) {
      options.signal.throwIfAborted();
      const active = relayers.filter((relayer) => (starts.get(relayer) ?? 0) <= fromBlock);
      const next = [...starts.values()].filter((start) => start > fromBlock);
      const toBlock = Math.min(headBlock, ...next.map((start) => start - 1));
      fromBlock = await searchSmaller({ relayers: active, fromBlock, toBlock }, look);
    }
    return { headBlock, beganAtMs };
  }

  let running: Promise<SearchResult> | undefined;
  let next: Promise<SearchResult> | undefined;
  let last: SearchResult | undefined;

  function start(): Promise<SearchResult> {
    return searchAll()
      .then((result) => {
        last = result;
        return result;
      })
      .finally(() => {
        running = next;
        next = undefined;
      });
  }

  return {
    search({ notOlderMs = 0 } = {}) {
      if (last !== undefined && last.headBlock >= sawBlock && monotonicNow() - last.beganAtMs < notOlderMs)
        return Promise.resolve(last);
      if (running === undefined) {
        running = start();
        return running;
      }
      // The one that runs may have looked too early for this caller.
      const previous = running;
      next ??= previous.then(start, start);
      return next;
    },
    saw(blockNumber) {
      sawBlock = Math.max(sawBlock, blockNumber);
    },
    startOver() {
      last = undefined;
      marks.forgetCursors(scope);
    },
  };
}
