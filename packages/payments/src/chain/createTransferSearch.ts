import { type Address, type Hash, type PublicClient, parseTransaction } from 'viem';
import type { BroadcastTable } from '../journal/createBroadcastTable.ts';
import type { FoundTransfer, Party, TransferTable } from '../journal/createTransferTable.ts';
import { type ChainLook, createChainView, NodeBehindError } from './createChainView.ts';
import { createLogReader, type LogQuery, type TransferLog } from './createLogReader.ts';
import { describeTransaction, type ReportedTransaction } from './describeTransaction.ts';

/** The transfers to search for, and where. */
export interface TransferSearchOptions {
  readonly client: PublicClient;
  readonly transfers: TransferTable;
  /** Transactions broadcast by this instance need not be fetched. */
  readonly broadcasts: BroadcastTable;
  readonly chainId: number;
  readonly self: Address;
  readonly creditToken: Address;
  /** Every address that may have paid, this instance's among them: of theirs, transfers of nothing count too. */
  readonly relayers: readonly Address[];
  /** Whose transfers are searched for now: wallets that payments go to, and relayers while it is not known what they have paid. */
  readonly listParties: () => readonly Party[];
  /** Where the search for a party begins that was never searched for on this chain and token. */
  readonly fromBlock: number;
  /** Blocks that may be replaced: they are searched again each time, and compared with their headers. */
  readonly reorgDepth: number;
  /** Milliseconds, of a clock that never goes back. */
  readonly monotonicNow: () => number;
  /** Ends a search after the query that it is at; the first one may take minutes. */
  readonly signal: AbortSignal;
}

/** Follows the chain for payouts: transfers to the wallets of payments, from anyone. */
export interface TransferSearch {
  /**
   * Searches up to the newest block. Calls at the same time share a search that begins after they were made.
   *
   * @param options.notOlderMs - a search that began no longer ago, in milliseconds, serves as well; default 0
   * @param options.wallet - searched for as well, though no payment of the journal goes to it; lower case
   * @returns the newest block, and when the search began on the monotonic clock
   * @throws NodeBehindError if head, headers and logs do not agree; viem's errors; the signal's reason
   */
  search(options?: { readonly notOlderMs?: number; readonly wallet?: Address }): Promise<SearchResult>;
  /** The chain was seen to have this block: nothing that ends below it is believed. One that it cannot have yet is not believed itself. */
  saw(blockNumber: number): void;
  /** Has everything searched again, from a block or from the beginning. */
  startOver(fromBlock?: number): void;
}

/** The range that a search covered. */
export interface SearchResult {
  readonly headBlock: number;
  readonly beganAtMs: number;
  readonly parties: ReadonlySet<string>;
}

/** Queries that are answered before one of a size that was not is tried again. */
const RETRY_LARGE_AFTER = 8;
/** Most blocks that any chain adds in a millisecond: twice those of the quickest. */
const MAX_BLOCKS_PER_MS = 0.02;
/** Transactions that are asked for at a time. */
const MAX_READS = 50;

// Lower case of an address is an address.
const lower = (address: Address) => address.toLowerCase() as Address;
const nameOf = ({ side, address }: Party) => `${side} ${address}`;

/** A transaction's payment, by its calldata and by the token's logs of it. */
function describePaid(
  transaction: ReportedTransaction,
  creditToken: Address,
  logs: readonly TransferLog[],
): FoundTransfer {
  const payout = describeTransaction(transaction, creditToken);
  // Calldata says to whom; if nothing of that came, whoever got something.
  const recipient = logs.find(({ to }) => to === payout?.recipient)?.to ?? logs[0]?.to ?? transaction.from;
  const amount = logs.filter(({ to }) => to === recipient).reduce((sum, { value }) => sum + value, 0n);
  return {
    txHash: transaction.hash,
    sender: lower(transaction.from),
    ...(transaction.to === null ? {} : { via: lower(transaction.to) }),
    ...(payout === undefined ? {} : { payoutId: payout.payoutId }),
    recipient,
    amount,
  };
}

/** Chooses how many blocks a query spans: all, and fewer of a node that does not answer, for each limits blocks or logs in its own words. */
function createRange() {
  let range = Number.MAX_SAFE_INTEGER;
  /** Blocks of the smallest query that was not answered of late, and how many were answered since. */
  let tooLarge = Number.POSITIVE_INFINITY;
  let answered = 0;
  return {
    get: () => range,
    /** Grows again, up to what was too large; later that is tried anew, for it may have failed for another reason. */
    grow() {
      answered++;
      if (range * 2 >= tooLarge && answered < RETRY_LARGE_AFTER) return;
      if (range * 2 >= tooLarge) tooLarge = Number.POSITIVE_INFINITY;
      range = Math.min(Number.MAX_SAFE_INTEGER, range * 2);
    },
    shrink(blocks: number) {
      answered = 0;
      tooLarge = blocks;
      range = Math.max(1, Math.floor(blocks / 4));
    },
  };
}

/**
 * Creates the search. Every payout moves credits to a wallet, so the token's `Transfer` logs lead to it whoever has made it, and the calldata
 * says which payment it is.
 *
 * @see docs/payments.md, "Why it cannot pay twice"
 */
export function createTransferSearch(options: TransferSearchOptions): TransferSearch {
  const { client, transfers, reorgDepth, monotonicNow, creditToken, listParties } = options;
  const scope = [options.chainId, creditToken].join(' ').toLowerCase();
  const relayers = new Set(options.relayers.map(lower));
  const view = createChainView({ client, depth: reorgDepth });
  const readLogs = createLogReader(options);
  const range = createRange();
  /** Wallets that were asked for, and that the next search is for as well. */
  const asked = new Set<Address>();
  let sawBlock = 0;

  async function readTransaction(hash: Hash, logs: readonly TransferLog[]): Promise<FoundTransfer> {
    const own = options.broadcasts.find(hash);
    if (own !== undefined) {
      // Only EIP-1559 transactions are broadcast.
      const { to = null, data: input = '0x' } = parseTransaction(own as `0x02${string}`);
      return describePaid({ hash, from: options.self, to, input }, creditToken, logs);
    }
    const transaction = await client.request({ method: 'eth_getTransactionByHash', params: [hash] });
    if (transaction === null) throw new NodeBehindError(`it has a log of ${hash}, and not its transaction`);
    return describePaid(transaction, creditToken, logs);
  }

  /** Anybody can have a token log transfers of nothing by the thousand; only relayers leave payout ids in them. */
  const counts = ({ value, from }: TransferLog) => value > 0n || relayers.has(from);

  async function searchRange(query: LogQuery, look: ChainLook): Promise<void> {
    const places = Map.groupBy((await readLogs(query, look)).filter(counts), ({ txHash }) => txHash);
    const unknown = [...places].filter(([hash]) => !transfers.has(hash));
    const added: FoundTransfer[] = [];
    for (let first = 0; first < unknown.length; first += MAX_READS) {
      options.signal.throwIfAborted();
      const some = unknown.slice(first, first + MAX_READS);
      added.push(...(await Promise.all(some.map(([hash, logs]) => readTransaction(hash, logs)))));
    }
    transfers.replaceRange({ ...query, scope, added, places: [...places.values()].flatMap(([log]) => log ?? []) });
  }

  /** @returns the block that is next */
  async function searchSome(query: LogQuery, look: ChainLook): Promise<number> {
    const { fromBlock } = query;
    const toBlock = Math.min(query.toBlock, fromBlock + range.get() - 1);
    try {
      await searchRange({ ...query, toBlock }, look);
      range.grow();
      return toBlock + 1;
    } catch (error) {
      if (error instanceof NodeBehindError || toBlock === fromBlock) throw error;
      range.shrink(toBlock - fromBlock + 1);
      return fromBlock;
    }
  }

  async function searchBlocks(query: LogQuery, look: ChainLook): Promise<void> {
    for (let fromBlock = query.fromBlock; fromBlock <= query.toBlock; ) {
      options.signal.throwIfAborted();
      fromBlock = await searchSome({ ...query, fromBlock }, look);
    }
  }

  /** What another chain lacks, if a proxy has led there for a moment, is not to be taken for searched. @throws NodeBehindError */
  async function checkChain(headBlock: number): Promise<void> {
    if (last !== undefined && Math.abs(headBlock - last.headBlock) < reorgDepth) return;
    const chainId = await client.getChainId();
    if (chainId !== options.chainId) throw new NodeBehindError(`it is of chain ${chainId}`);
  }

  async function searchAll(): Promise<SearchResult> {
    const beganAtMs = monotonicNow();
    const wallets = [...asked];
    const known = listParties();
    const others = wallets.filter(
      (address) => !known.some((party) => party.side === 'to' && party.address === address),
    );
    const parties: readonly Party[] = [...known, ...others.map((address) => ({ side: 'to', address }) as const)];
    const look = await view.look(Math.max(sawBlock, transfers.lastBlock(scope)));
    const headBlock = look.head.number;
    await checkChain(headBlock);
    /** From here on everybody is searched for; those of whom more is missing, together. */
    const recent = Math.max(0, headBlock - reorgDepth + 1);
    const startOf = (party: Party) => {
      const cursor = transfers.cursor(scope, party);
      return cursor === undefined ? options.fromBlock : Math.max(0, Math.min(cursor, headBlock) - reorgDepth + 1);
    };
    const behind = parties.map((party) => ({ party, start: startOf(party) })).filter(({ start }) => start < recent);
    const fromBlock = Math.min(recent, ...behind.map(({ start }) => start));
    await searchBlocks({ parties: behind.map(({ party }) => party), fromBlock, toBlock: recent - 1 }, look);
    await searchBlocks({ parties, fromBlock: recent, toBlock: headBlock }, look);
    for (const address of wallets) asked.delete(address);
    return { headBlock, beganAtMs, parties: new Set(parties.map(nameOf)) };
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

  /** Whether the last search was late enough, and of everybody who is searched for now. */
  function serves(notOlderMs: number): boolean {
    if (last === undefined || last.headBlock < sawBlock || monotonicNow() - last.beganAtMs >= notOlderMs) return false;
    const { parties } = last;
    const isSearched = (party: Party) => parties.has(nameOf(party));
    return listParties().every(isSearched) && [...asked].every((address) => isSearched({ side: 'to', address }));
  }

  return {
    search({ notOlderMs = 0, wallet } = {}) {
      if (wallet !== undefined) asked.add(wallet);
      if (last !== undefined && serves(notOlderMs)) return Promise.resolve(last);
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
      const since = last ?? { headBlock: Number.POSITIVE_INFINITY, beganAtMs: 0 };
      const added = (monotonicNow() - since.beganAtMs) * MAX_BLOCKS_PER_MS + reorgDepth;
      // It would stop all payments until the next start.
      if (blockNumber <= since.headBlock + added) sawBlock = Math.max(sawBlock, blockNumber);
    },
    startOver(fromBlock) {
      last = undefined;
      // The last blocks below a cursor are searched again anyway.
      transfers.forgetCursors(scope, fromBlock === undefined ? undefined : fromBlock + reorgDepth - 1);
    },
  };
}
