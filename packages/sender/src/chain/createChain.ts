import {
  chooseTip,
  collectAnswers,
  leastAgreed,
  mostAgreed,
  parseAddress,
  parseArray,
  parseCount,
  parseHash,
  parseQuantity,
  parseRecord,
  RpcAnswerError,
  type RpcPool,
  RpcUnavailableError,
  TIP_HISTORY,
} from '@prism-gateway/node/rpc';
import {
  type Address,
  formatTransaction,
  type Hash,
  type Hex,
  keccak256,
  numberToHex,
  type RpcTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem';
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
interface SimulatedCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

/** How many transactions of the account a node says there are. */
export interface NodeCount {
  /** The node's place among the URLs, from 0. */
  readonly node: number;
  readonly count: number;
}

/** The sender's reads of its nodes, each answer checked; every function throws RpcAnswerError or RpcUnavailableError. */
export interface Chain {
  /** How many nodes there are. */
  readonly nodes: number;
  chainId(): Promise<number>;
  /** The first block's hash from each node that answers; null: it no longer has the block. */
  genesisHashes(): Promise<readonly (Hash | null)[]>;
  head(): Promise<BlockHead>;
  /** The time of the newest block of each node that answers, in Unix seconds. */
  headTimes(): Promise<readonly { readonly node: number; readonly seconds: bigint }[]>;
  /** The tip suggested by the node, but no more than was usual in the last blocks, in wei. */
  suggestedTip(): Promise<bigint>;
  /** Of the account, in wei, as the nodes have it together. */
  balance(): Promise<bigint>;
  /**
   * The account's transaction count, as each node has it that answers: after the newest block, with what waits in the node, or after a block.
   *
   * @param timeoutMs - how long the others are waited for once one has answered
   */
  accountNonces(at: 'latest' | 'pending' | bigint, timeoutMs?: number): Promise<readonly NodeCount[]>;
  /** The account's transaction count after the finalized block, as the nodes have it together; undefined: they do not say. */
  finalNonce(): Promise<number | undefined>;
  /** The account's transaction count, as the nodes have it together. */
  accountNonce(at: 'latest' | 'pending' | bigint): Promise<number>;
  /** The account nonces, from one on, of transactions that wait for a block, and that nodes can show as the account's key has signed them. */
  showWaiting(fromNonce: number): Promise<readonly number[]>;
  estimateGas(call: SimulatedCall): Promise<bigint>;
  /** @returns the hash, which the node must have computed as we did */
  broadcast(version: { readonly raw: Hex; readonly hash: Hash }): Promise<void>;
  receipt(hash: Hash): Promise<Receipt | undefined>;
  /** As `receipt`; if the node that is asked first has none, what another one has. */
  findReceipt(hash: Hash): Promise<Receipt | undefined>;
  /** As `receipt`; if the node that is asked first has none, what the nodes say together. */
  confirmReceipt(hash: Hash): Promise<Receipt | undefined>;
  /** The hash of the account's transaction with a nonce in a block: of several nodes two have to show it, or one the key's signature. */
  findTransaction(at: { readonly blockNumber: bigint; readonly nonce: number }): Promise<Hash | undefined>;
  /** Has a node asked only if no other answers, for a minute. @param node - its place among the URLs, from 0 */
  deprioritize(node: number): void;
  close(): void;
}

function blockTag(at: 'latest' | 'pending' | 'finalized' | bigint): string {
  return typeof at === 'bigint' ? numberToHex(at) : at;
}

const isOf = (from: Address, entry: unknown) => `${Object(entry).from}`.toLowerCase() === from;

/** Lists what waits in a node of an account, as the answer to one of the calls has it that show it: a block, or the account's part of a pool. */
function listWaiting(from: Address, answer: unknown): readonly unknown[] {
  const { transactions, pending, queued } = Object(answer);
  const entries = [transactions, pending, queued].flatMap((list) => Object.values(Object(list)));
  return entries.filter((entry) => isOf(from, entry));
}

/**
 * Asks nodes with strict reading: an answer that is not what was asked for throws, and so never changes anything. What the first of them
 * says is believed if a lie would only cost time; what would hold the sender, or have it sign, is asked of each.
 */
export function createChain(rpc: RpcPool, account: Address): Chain {
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

  async function accountNonces(
    at: 'latest' | 'pending' | 'finalized' | bigint,
    timeoutMs?: number,
  ): Promise<readonly NodeCount[]> {
    const parse = (answer: unknown) => parseCount(answer, 'transaction count');
    const params = [from, blockTag(at)];
    const answers = await collectAnswers(rpc, { method: 'eth_getTransactionCount', params, parse, timeoutMs });
    return answers.map(({ node, answer }) => ({ node, count: answer }));
  }

  /** @returns none if no node knows the call */
  async function askForWaiting(method: string, params: readonly unknown[]): Promise<readonly unknown[]> {
    try {
      const answers = await collectAnswers(rpc, { method, params, parse: (answer) => listWaiting(from, answer) });
      return answers.flatMap(({ answer }) => answer);
    } catch (error) {
      if (error instanceof RpcAnswerError || error instanceof RpcUnavailableError) return [];
      throw error;
    }
  }

  async function showWaiting(fromNonce: number): Promise<readonly number[]> {
    const [inBlock, inPool] = await Promise.all([
      askForWaiting('eth_getBlockByNumber', ['pending', true]),
      askForWaiting('txpool_contentFrom', [from]),
    ]);
    const signed = await Promise.all([...inBlock, ...inPool].map((entry) => readSigned(entry, from)));
    return signed.flatMap((one) => (one !== undefined && one.nonce >= fromNonce ? [one.nonce] : []));
  }

  async function findTransaction({ blockNumber, nonce }: { blockNumber: bigint; nonce: number }) {
    function parse(answer: unknown) {
      const block = parseRecord(answer, 'block');
      if (parseQuantity(block.number, 'number') !== blockNumber) throw new RpcUnavailableError('it is another block');
      const entries = parseArray(block.transactions, 'transactions').map((entry) => parseRecord(entry, 'transaction'));
      const own = entries.filter((entry) => parseAddress(entry.from, 'from') === from);
      const entry = own.find((each) => parseCount(each.nonce, 'nonce') === nonce);
      return entry && { entry, hash: parseHash(entry.hash, 'hash') };
    }
    const answers = await collectAnswers(rpc, {
      method: 'eth_getBlockByNumber',
      params: [numberToHex(blockNumber), true],
      parse,
    });
    const found = answers.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
    if (rpc.size === 1) return found[0]?.hash;
    const twice = found.find(({ hash }, index) => found.findIndex((other) => other.hash === hash) < index);
    if (twice !== undefined) return twice.hash;
    for (const { entry, hash } of found) if ((await readSigned(entry, from))?.hash === hash) return hash;
    return undefined;
  }

  async function receipt(hash: Hash): Promise<Receipt | undefined> {
    return parseReceipt(await rpc.request('eth_getTransactionReceipt', [hash]), { hash, from });
  }

  /** The receipts that each node has which answers; undefined: none. */
  async function receipts(hash: Hash): Promise<readonly (Receipt | undefined)[]> {
    const parse = (answer: unknown) => parseReceipt(answer, { hash, from });
    const answers = await collectAnswers(rpc, { method: 'eth_getTransactionReceipt', params: [hash], parse });
    return answers.map(({ answer }) => answer);
  }

  return {
    nodes: rpc.size,
    chainId: async () => parseCount(await rpc.request('eth_chainId', []), 'chain id'),
    async genesisHashes() {
      const parse = (block: unknown) => (block === null ? null : parseHash(parseRecord(block, 'block').hash, 'hash'));
      const answers = await collectAnswers(rpc, { method: 'eth_getBlockByNumber', params: ['0x0', false], parse });
      return answers.map(({ answer }) => answer);
    },
    head,
    async headTimes() {
      const parse = (block: unknown) => parseQuantity(parseRecord(block, 'block').timestamp, 'timestamp');
      const answers = await collectAnswers(rpc, { method: 'eth_getBlockByNumber', params: ['latest', false], parse });
      return answers.map(({ node, answer }) => ({ node, seconds: answer }));
    },
    suggestedTip,
    async balance() {
      const parse = (answer: unknown) => parseQuantity(answer, 'balance');
      const answers = await collectAnswers(rpc, { method: 'eth_getBalance', params: [from, 'latest'], parse });
      return mostAgreed(answers.map(({ answer }) => answer));
    },
    accountNonces,
    async finalNonce() {
      try {
        return leastAgreed((await accountNonces('finalized')).map(({ count }) => count));
      } catch (error) {
        if (error instanceof RpcAnswerError || error instanceof RpcUnavailableError) return undefined;
        throw error;
      }
    },
    accountNonce: async (at) => leastAgreed((await accountNonces(at)).map(({ count }) => count)),
    showWaiting,
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
    receipt,
    async findReceipt(hash) {
      const first = await receipt(hash);
      if (first !== undefined || rpc.size === 1) return first;
      return (await receipts(hash)).find((other) => other !== undefined);
    },
    async confirmReceipt(hash) {
      const first = await receipt(hash);
      return first !== undefined || rpc.size === 1 ? first : agreeReceipt(await receipts(hash));
    },
    findTransaction,
    deprioritize: rpc.deprioritize,
    close: () => rpc.close(),
  };
}

/** So many nodes have to agree. */
const MAJORITY = 2;

/**
 * Finds what nodes say together of a transaction that was mined when it was looked at last.
 *
 * @param receipts - of each node that answers; undefined: it has no receipt
 * @returns the receipt that two of them have, or the only one that answers; undefined if as many have none
 * @throws RpcUnavailableError if they do not agree
 */
function agreeReceipt(answers: readonly (Receipt | undefined)[]): Receipt | undefined {
  const groups = [...Map.groupBy(answers, (receipt) => receipt?.blockHash).values()];
  const [most = [], next = []] = groups.toSorted((one, other) => other.length - one.length);
  if (next.length === 0 || (most.length >= MAJORITY && most.length > next.length)) return most[0];
  throw new RpcUnavailableError('the nodes do not agree on a receipt');
}

/** A transaction that a key has signed. */
interface SignedTransaction {
  readonly hash: Hash;
  readonly nonce: number;
}

/**
 * Reads a transaction as a node shows it, and looks whether an account's key has signed it: no node can make that up.
 *
 * @param account - in lower case
 * @returns undefined if it has not, or that cannot be known
 */
async function readSigned(shown: unknown, account: Address): Promise<SignedTransaction | undefined> {
  try {
    // A value that is no record lacks fields, which throws below.
    const { r, s, v, yParity, input, ...rest } = formatTransaction(shown as RpcTransaction);
    const signature = { r, s, v, ...(yParity !== undefined && { yParity }) };
    // Each type of transaction has fields of its own, which are among those that were read.
    const transaction = { ...rest, data: input } as TransactionSerializable;
    const serializedTransaction = serializeTransaction(transaction, signature);
    const signer = await recoverTransactionAddress({
      serializedTransaction: serializedTransaction as `0x02${string}`,
    });
    if (signer.toLowerCase() !== account) return undefined;
    return { hash: keccak256(serializedTransaction), nonce: rest.nonce };
  } catch {
    return undefined;
  }
}
