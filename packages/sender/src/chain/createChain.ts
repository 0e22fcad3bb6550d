import {
  chooseTip,
  parseAddress,
  parseArray,
  parseCount,
  parseHash,
  parseQuantity,
  parseRecord,
  RpcAnswerError,
  type RpcClient,
  RpcUnavailableError,
  TIP_HISTORY,
} from '@prism-gateway/rpc';
import { type Address, type Hash, type Hex, numberToHex } from 'viem';
import { parseReceipt, type Receipt } from './parseReceipt.ts';

/** The newest block, as the node has it. */
export interface BlockHead {
  readonly number: bigint;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** In wei. */
  readonly baseFeePerGas: bigint;
}

/** A call as it is simulated. */
export interface SimulatedCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

/** What the sender asks a node, each answer checked; every function throws RpcAnswerError or RpcUnavailableError. */
export interface Chain {
  chainId(): Promise<number>;
  /** Undefined where the node no longer has the first block. */
  genesisHash(): Promise<Hash | undefined>;
  head(): Promise<BlockHead>;
  /** What the node suggests as tip, but no more than was usual in the last blocks, in wei. */
  suggestedTip(): Promise<bigint>;
  /** Of the account, in wei. */
  balance(): Promise<bigint>;
  /** The account's transaction count: after the newest block, with what waits in the node, or after a block. */
  accountNonce(at: 'latest' | 'pending' | bigint): Promise<number>;
  estimateGas(call: SimulatedCall): Promise<bigint>;
  /** @returns the hash, which the node must have computed as we did */
  broadcast(version: { readonly raw: Hex; readonly hash: Hash }): Promise<void>;
  receipt(hash: Hash): Promise<Receipt | undefined>;
  /** The hash of the account's transaction with a nonce in a block. */
  findTransaction(at: { readonly blockNumber: bigint; readonly nonce: number }): Promise<Hash | undefined>;
  close(): void;
}

function blockTag(at: 'latest' | 'pending' | bigint): string {
  return typeof at === 'bigint' ? numberToHex(at) : at;
}

/**
 * Asks a node with strict reading: an answer that is not what was asked for throws, and so never changes anything.
 *
 * @param rpc - makes the calls
 * @param account - whose transactions and balance it is about
 * @returns the questions
 */
export function createChain(rpc: RpcClient, account: Address): Chain {
  // Answers are compared in lower case; an address in lower case is still one.
  const from = account.toLowerCase() as Address;

  async function head(): Promise<BlockHead> {
    const block = parseRecord(await rpc.request('eth_getBlockByNumber', ['latest', false]), 'block');
    return {
      number: parseQuantity(block.number, 'number'),
      hash: parseHash(block.hash, 'hash'),
      parentHash: parseHash(block.parentHash, 'parentHash'),
      baseFeePerGas: parseQuantity(block.baseFeePerGas, 'baseFeePerGas'),
    };
  }

  async function suggestedTip(): Promise<bigint> {
    const asked = rpc.request('eth_feeHistory', TIP_HISTORY);
    // Where the node has none, or none that can be read, its suggestion stands alone.
    const withoutHistory = (error: unknown) => {
      if (error instanceof RpcAnswerError || error instanceof RpcUnavailableError) return undefined;
      throw error;
    };
    const [suggested, history] = await Promise.all([
      rpc.request('eth_maxPriorityFeePerGas', []),
      asked.then((answer) => (tip: bigint) => chooseTip(tip, answer)).catch(withoutHistory),
    ]);
    const tip = parseQuantity(suggested, 'tip');
    try {
      return history?.(tip) ?? tip;
    } catch (error) {
      return withoutHistory(error) ?? tip;
    }
  }

  async function findTransaction({ blockNumber, nonce }: { blockNumber: bigint; nonce: number }) {
    const answer = await rpc.request('eth_getBlockByNumber', [numberToHex(blockNumber), true]);
    const block = parseRecord(answer, 'block');
    if (parseQuantity(block.number, 'number') !== blockNumber) throw new RpcUnavailableError('it is another block');
    for (const entry of parseArray(block.transactions, 'transactions')) {
      const transaction = parseRecord(entry, 'transaction');
      if (parseAddress(transaction.from, 'from') !== from) continue;
      if (parseCount(transaction.nonce, 'nonce') === nonce) return parseHash(transaction.hash, 'hash');
    }
    return undefined;
  }

  return {
    chainId: async () => parseCount(await rpc.request('eth_chainId', []), 'chain id'),
    async genesisHash() {
      const block = await rpc.request('eth_getBlockByNumber', ['0x0', false]);
      return block === null ? undefined : parseHash(parseRecord(block, 'block').hash, 'hash');
    },
    head,
    suggestedTip,
    balance: async () => parseQuantity(await rpc.request('eth_getBalance', [from, 'latest']), 'balance'),
    accountNonce: async (at) =>
      parseCount(await rpc.request('eth_getTransactionCount', [from, blockTag(at)]), 'transaction count'),
    async estimateGas({ to, data, value }) {
      return parseQuantity(
        await rpc.request('eth_estimateGas', [{ from, to, data, value: numberToHex(value) }]),
        'gas',
      );
    },
    async broadcast({ raw, hash }) {
      const answer = parseHash(await rpc.request('eth_sendRawTransaction', [raw]), 'transaction hash');
      if (answer !== hash) throw new RpcUnavailableError('the node names another hash');
    },
    receipt: async (hash) => parseReceipt(await rpc.request('eth_getTransactionReceipt', [hash]), { hash, from }),
    findTransaction,
    close: () => rpc.close(),
  };
}
