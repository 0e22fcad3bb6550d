/** The simulated chain as the world around it uses it. Amounts of ether are in wei, times in Unix seconds, hex in lower case. */
import type { Address, Hash, Hex } from 'viem';

/** An account from the first block on. */
export interface GenesisAccount {
  readonly balance?: bigint;
  readonly nonce?: number;
  readonly code?: Hex;
}

export interface ChainOptions {
  readonly chainId: number;
  readonly genesisTimeSeconds: number;
  /** The world's seeded source, in [0, 1): for `prevRandao`, and nothing else. */
  readonly random: () => number;
  /** The world's clock in Unix seconds; default the time of the newest block. The pending block and nodes that lag by time ask it. */
  readonly nowSeconds?: () => number;
  /** Of the first block; default 1 gwei. */
  readonly baseFeePerGas?: bigint;
  /** Of every block; default 30,000,000. */
  readonly gasLimit?: bigint;
  readonly pool?: Partial<PoolLimits>;
  readonly market?: Market;
  readonly accounts?: Readonly<Record<Address, GenesisAccount>>;
}

/** Transactions of others, who are not simulated one by one, in each block. */
export interface Market {
  /** Gas of their transactions in a block; default half the gas limit, at which the base fee stands still. */
  readonly gasPerBlock: bigint;
  /** Their price beyond the base fee: whoever pays less gets only the room that they leave; default 1 gwei. */
  readonly tipPerGas: bigint;
  /**
   * Base fee at which they do so: if it is higher they want less, and if it is lower more, in proportion. So it comes back to here
   * whatever else is in the blocks. Default: they want the same at any price.
   */
  readonly restingBaseFeePerGas?: bigint;
  /** Least fee cap of what fills the pools: what offers less is evicted, or refused as underpriced; default 0. */
  readonly poolFloorPerGas?: bigint;
}

/** As geth has them. @see https://geth.ethereum.org/docs/fundamentals/command-line-options */
export interface PoolLimits {
  /** Least tip that is taken at all; default 1 wei. */
  readonly minTipPerGas: bigint;
  /** The least raise of a replacement, in percent; default 10. */
  readonly replacementPercent: number;
  /** Transactions of one account that can be mined next; default 4096, and only as long as the pool has room for more than 16 of each. */
  readonly accountSlots: number;
  /** Transactions of one account behind a gap; default 64. */
  readonly accountQueue: number;
  /** Transactions in all; default 5120 and 1024. Of more the cheapest goes. */
  readonly globalSlots: number;
  readonly globalQueue: number;
  /** How long a transaction waits behind a gap; default 10,800 s. */
  readonly queueLifetimeSeconds: number;
}

/** How the world has a block made. */
export interface MineOptions {
  /** Default: the clock's, and at least a second after the block before. */
  readonly timestampSeconds?: number;
  readonly maxTransactions?: number;
  /** Transactions that this block leaves out. */
  readonly exclude?: (transaction: PoolTransaction) => boolean;
  readonly feeRecipient?: Address;
  /** For this block only. */
  readonly market?: Partial<Market>;
}

/** A transaction that waits for a block. */
export interface PoolTransaction {
  readonly hash: Hash;
  readonly raw: Hex;
  readonly from: Address;
  readonly to: Address | undefined;
  readonly nonce: number;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** When it came. */
  readonly sinceSeconds: number;
  /** Name of the node that took it. */
  readonly node: string;
}

export interface MinedTransaction {
  readonly hash: Hash;
  readonly from: Address;
  readonly to: Address | undefined;
  readonly nonce: number;
  readonly isSuccess: boolean;
  readonly gasUsed: bigint;
  /** The sender's price for a unit of gas. */
  readonly gasPrice: bigint;
  /** The return data of a transaction that failed. */
  readonly revertData: Hex | undefined;
  readonly logs: readonly ChainLog[];
}

export interface ChainLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: number;
  readonly transactionHash: Hash;
}

export interface ChainBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly timestampSeconds: number;
  readonly baseFeePerGas: bigint;
  /** With that of the market. */
  readonly gasUsed: bigint;
  readonly transactions: readonly MinedTransaction[];
}

export interface ReorganiseOptions {
  /** How many of the newest blocks are taken back. */
  readonly depth: number;
  /** The blocks in their place, oldest first; default one more than were taken back, at their times and a second later. */
  readonly blocks?: readonly MineOptions[];
  /** Whether a transaction of the blocks that were taken back is lost; default: all go back to the pool. */
  readonly isLost?: (transaction: MinedTransaction) => boolean;
}

export interface Reorganisation {
  /** Newest block that both have. */
  readonly forkBlock: ChainBlock;
  readonly removed: readonly ChainBlock[];
  readonly added: readonly ChainBlock[];
  readonly lost: readonly Hash[];
}

/** Why a transaction left the pool without a block. */
export interface DroppedTransaction {
  readonly transaction: PoolTransaction;
  readonly reason: 'command' | 'replaced' | 'evicted' | 'expired' | 'nonceUsed' | 'unpayable' | 'reorganised';
  readonly atSeconds: number;
}

/** The faults of a node; each can be set at any time. */
export interface NodeFaults {
  /** Its head is this many blocks behind. */
  lagBlocks: number;
  /** Its head is what the chain's was this many seconds ago; of both lags the larger counts. */
  lagSeconds: number;
  /** It keeps the head that it had when this was set, orphaned or not. */
  isHeadStuck: boolean;
  /** For the network: it never answers. `handle` does not look at it. */
  isStalled: boolean;
  /** `http`: for the network, which answers 429. `json`: each call is answered with -32005. */
  rateLimit: 'none' | 'http' | 'json';
  /** Whose waiting transactions it shows: all, only what was sent to itself, or none. */
  poolView: 'all' | 'own' | 'none';
  /** The treatment of a signed transaction: handed on; kept, so that no block ever has it; or answered with its hash and forgotten. */
  broadcast: 'forward' | 'keep' | 'forget';
  /** Leaves out of `eth_getLogs` what this says; receipts still have them. */
  withholdsLog: ((log: ChainLog) => boolean) | undefined;
  /** Queries over more blocks are refused. */
  maxLogBlocks: number;
  /** It has no state of blocks that are so far behind its head, as a node that is no archive. */
  stateDepth: number;
  /** Methods that it does not know, like `eth_simulateV1`. */
  unknownMethods: ReadonlySet<string>;
  /** The last word on each result: `lies` has ready ones. The result must not be changed, but replaced. */
  lie: Lie | undefined;
}

/** @returns what the node says instead of a result; the result itself if it does not lie */
export type Lie = (call: { readonly method: string; readonly params: readonly unknown[] }, result: unknown) => unknown;

/** A node that answers JSON-RPC. */
export interface ChainNode {
  readonly name: string;
  readonly faults: NodeFaults;
  /** Sets all faults back, and hands on what it has kept. */
  heal(): void;
  /** The number of the block that it says is the newest. */
  headNumber(): number;
  /**
   * Answers a call or a batch. It waits for nothing but promises, so that virtual time may stand still.
   *
   * @param body - JSON text, or what it holds
   * @returns the answer's body, to be written as JSON; parts are shared, so it must not be changed
   */
  handle(body: unknown): Promise<unknown>;
  /** As `handle`, from text to text. */
  handleText(body: string): Promise<string>;
  /** One call. @throws RpcFailure */
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
}

export interface Chain {
  readonly chainId: number;
  head(): ChainBlock;
  /** Of the chain as it is; undefined if there is none. */
  block(number: number): ChainBlock | undefined;
  /** Where a transaction stands in the chain as it is. */
  findTransaction(hash: Hash): { readonly block: ChainBlock; readonly transaction: MinedTransaction } | undefined;
  /** Reads for invariants, of the newest block. */
  balance(address: Address): bigint;
  nonce(address: Address): number;
  /** Calls a contract after the newest block. @throws RpcFailure */
  call(call: { readonly to: Address; readonly data: Hex; readonly from?: Address }): Promise<Hex>;

  createNode(options: { readonly name: string }): ChainNode;

  mine(options?: MineOptions): Promise<ChainBlock>;
  reorganise(options: ReorganiseOptions): Promise<Reorganisation>;
  /** Base fee of the next block; the protocol moves it from there. */
  setBaseFee(wei: bigint): void;
  /** The next block's base fee. */
  nextBaseFee(): bigint;
  market(): Market;
  setMarket(market: Partial<Market>): void;
  /** Gives ether from nowhere, with the next block. */
  fund(address: Address, wei: bigint): void;

  pool: {
    list(): readonly PoolTransaction[];
    has(hash: Hash): boolean;
    /** Takes transactions out. @returns how many */
    drop(which: (transaction: PoolTransaction) => boolean): number;
    /** Transactions that left the pool without a block, oldest first. */
    dropped(): readonly DroppedTransaction[];
  };
  /** Called with each block as it becomes the newest, and with those that are taken back. @returns what ends it */
  onBlock(listener: (event: { readonly kind: 'added' | 'removed'; readonly block: ChainBlock }) => void): () => void;
}
