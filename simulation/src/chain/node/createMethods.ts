import { type Address, type Hash, type Hex, numberToHex, zeroHash } from 'viem';
import { keyOf, toHex } from '../evm/createExecutor.ts';
import { larger } from '../evm/intrinsicGas.ts';
import { computeNextBaseFee } from '../fees.ts';
import { failParams, failServer } from '../RpcFailure.ts';
import type { BlockRecord, LogRecord, SignedTransaction, TransactionRecord } from '../records.ts';
import { EMPTY_BLOOM } from '../sealBlock.ts';
import { createPoolView } from './createPoolView.ts';
import {
  formatHeader,
  formatTransaction,
  writeBlock,
  writeFullBlock,
  writeLog,
  writeReceipt,
  writeTransaction,
} from './formatBlock.ts';
import type { Method, NodePorts, NodeView, Params } from './ports.ts';
import { chooseBlock, chooseState, need, readAddress, readBytes, readHash, readQuantity } from './readParams.ts';
import { createCallMethods } from './runCalls.ts';

/** Its words in `web3_clientVersion`. */
const VERSION = 'Geth/v1.16.0-simulated/prism';
/** Most that a transaction may cost in fees, as geth's `--rpc.txfeecap` has it, in wei. */
const FEE_CAP = 10n ** 18n;
/** Constants of geth's oracle of tips. @see https://github.com/ethereum/go-ethereum/blob/master/eth/gasprice/gasprice.go */
const [TIP_BLOCKS, TIP_SAMPLES, TIP_PERCENTILE, IGNORED_TIP, MAX_TIP] = [20, 3, 60, 2n, 500n * 10n ** 9n];
const MAX_HISTORY_BLOCKS = 1024;

const compare = (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0);

/** Makes all methods that nodes know. */
export function createMethods(ports: NodePorts): ReadonlyMap<string, Method> {
  const { branches, world, pool, chainId, makeBloom } = ports;
  const poolView = createPoolView(ports);

  const accountAt = (view: NodeView, params: Params, tagPlace: number) => {
    const address = readAddress(params, 0);
    return {
      address,
      account: world.account(chooseState(ports, view, params[tagPlace], tagPlace).block, keyOf(address)),
    };
  };

  function pendingBlock(view: NodeView, isFull: boolean): object {
    const { head } = view;
    const seconds = Math.max(head.timestampSeconds + 1, Math.floor(ports.nowSeconds()));
    return {
      ...formatHeader(head),
      number: numberToHex(head.number + 1),
      timestamp: numberToHex(seconds),
      parentHash: head.hash,
      baseFeePerGas: numberToHex(computeNextBaseFee(head)),
      gasUsed: '0x0',
      logsBloom: EMPTY_BLOOM,
      ...{ hash: null, nonce: null, mixHash: zeroHash },
      transactions: poolView.all(view).pending.map((signed) => (isFull ? formatTransaction(signed) : signed.hash)),
    };
  }

  function readBlock(view: NodeView, params: Params): object | null {
    const { block, isPending } = chooseBlock(ports, view, need(params, 0));
    if (isPending) return pendingBlock(view, params[1] === true);
    if (block === undefined) return null;
    return params[1] === true ? writeFullBlock(block) : writeBlock(block);
  }

  function nonceOf(view: NodeView, params: Params): Hex {
    const { address, account } = accountAt(view, params, 1);
    const nonce = Number(account?.nonce ?? 0n);
    if (params[1] !== 'pending') return numberToHex(nonce);
    const { pending, queued } = poolView.of(view, address);
    const own = [...view.own.values()].filter(({ from }) => from === address);
    const waiting = new Set([...pending, ...queued, ...own].map((signed) => signed.nonce));
    let next = nonce;
    while (waiting.has(next)) next++;
    return numberToHex(next);
  }

  function send(view: NodeView, params: Params): Hash {
    const raw = readBytes(need(params, 0), 0);
    const signed = ports.readTransaction(raw);
    const fee = signed.gasLimit * signed.maxFeePerGas;
    if (fee > FEE_CAP) {
      throw failServer(`tx fee (${(Number(fee) / 1e18).toFixed(2)} ether) exceeds the configured cap (1.00 ether)`);
    }
    const { broadcast } = view.faults;
    if (broadcast === 'forget') return signed.hash;
    if (broadcast === 'keep') {
      if (view.own.has(signed.hash)) throw failServer('already known');
      view.own.set(signed.hash, signed);
      return signed.hash;
    }
    pool.add(signed, view.name);
    return signed.hash;
  }

  function findTransaction(view: NodeView, hash: Hash): object | null {
    const mined = branches.findTransaction(hash, view.head);
    if (mined !== undefined) return writeTransaction(mined);
    const signed = poolView.find(view, hash);
    return signed === undefined ? null : formatTransaction(signed);
  }

  /** Tips that were paid in a block for shares of its gas, the market's among them. */
  function listTips({ transactions, market, baseFeePerGas, gasUsed }: BlockRecord) {
    const tips = transactions.map(({ gasPrice, gasUsed: gas }: TransactionRecord) => ({
      tip: gasPrice - baseFeePerGas,
      gas,
    }));
    const own = tips.reduce((sum, { gas }) => sum + gas, 0n);
    // The first block counts as half full, and has no market.
    if (market.gas > 0n && gasUsed > own) tips.push({ tip: market.tipPerGas, gas: gasUsed - own });
    return tips.sort((one, other) => compare(one.tip, other.tip));
  }

  const suggestions = new Map<Hash, bigint>();
  function suggestTip(head: BlockRecord): bigint {
    const kept = suggestions.get(head.hash);
    if (kept !== undefined) return kept;
    const samples: bigint[] = [];
    let block: BlockRecord | undefined = head;
    for (let count = 0; count < TIP_BLOCKS && block !== undefined; count++, block = block.parent) {
      const tips = listTips(block).filter(({ tip }) => tip >= IGNORED_TIP);
      samples.push(...tips.slice(0, TIP_SAMPLES).map(({ tip }) => tip));
    }
    samples.sort(compare);
    const found =
      samples[Math.floor(((samples.length - 1) * TIP_PERCENTILE) / 100)] ?? larger(ports.market().tipPerGas, 1n);
    const tip = found < MAX_TIP ? found : MAX_TIP;
    if (suggestions.size > 256) suggestions.clear();
    suggestions.set(head.hash, tip);
    return tip;
  }

  function feeHistory(view: NodeView, params: Params): object {
    const count = Math.min(Number(readQuantity(need(params, 0), 0)), MAX_HISTORY_BLOCKS);
    const { block: newest } = chooseBlock(ports, view, need(params, 1), 1);
    if (newest === undefined) throw failServer('request beyond head block');
    const percentiles = Array.isArray(params[2]) ? (params[2] as number[]) : undefined;
    const blocks: BlockRecord[] = [];
    for (let at: BlockRecord | undefined = newest; at !== undefined && blocks.length < count; at = at.parent)
      blocks.unshift(at);
    return {
      oldestBlock: numberToHex(blocks[0]?.number ?? 0),
      baseFeePerGas: [...blocks.map(({ baseFeePerGas }) => baseFeePerGas), computeNextBaseFee(newest)].map((fee) =>
        numberToHex(fee),
      ),
      gasUsedRatio: blocks.map(({ gasUsed, gasLimit }) => Number(gasUsed) / Number(gasLimit)),
      baseFeePerBlobGas: [...blocks.map(() => '0x1'), '0x1'],
      blobGasUsedRatio: blocks.map(() => 0),
      ...(percentiles !== undefined && { reward: blocks.map((block) => rewards(block, percentiles)) }),
    };
  }

  function rewards(block: BlockRecord, percentiles: readonly number[]): readonly Hex[] {
    const tips = listTips(block);
    const total = tips.reduce((sum, { gas }) => sum + gas, 0n);
    return percentiles.map((percentile) => {
      const threshold = (total * BigInt(Math.round(percentile * 100))) / 10_000n;
      let sum = 0n;
      for (const { tip, gas } of tips) {
        sum += gas;
        if (sum >= threshold) return numberToHex(tip);
      }
      return '0x0';
    });
  }

  function* walkBlocks(view: NodeView, filter: Record<string, unknown>): Generator<BlockRecord> {
    if (typeof filter.blockHash === 'string') {
      const block = branches.byHash(filter.blockHash.toLowerCase() as Hash);
      if (block === undefined || block.number > view.head.number) throw failServer('unknown block');
      yield block;
      return;
    }
    const bound = (tag: unknown) => chooseBlock(ports, view, tag);
    const number = (tag: unknown) => bound(tag).block?.number ?? Number(readQuantity(tag, 0));
    const [from, to] = [number(filter.fromBlock), number(filter.toBlock)];
    if (from > to) throw failServer('invalid block range params');
    if (to - from + 1 > view.faults.maxLogBlocks) {
      throw failServer(`query exceeds max block range ${view.faults.maxLogBlocks}`);
    }
    for (let at = from; at <= Math.min(to, view.head.number); at++) {
      const block = branches.blockAt(view.head, at);
      if (block !== undefined && block.logs.length > 0) yield block;
    }
  }

  function getLogs(view: NodeView, params: Params): readonly object[] {
    const filter = Object(need(params, 0)) as Record<string, unknown>;
    const matches = createLogMatch(filter);
    const withheld = view.faults.withholdsLog ?? (() => false);
    const found: object[] = [];
    for (const { logs } of walkBlocks(view, filter)) {
      for (const log of logs) if (matches(log) && !withheld(log)) found.push(writeLog(log));
    }
    return found;
  }

  function contentFrom(view: NodeView, address: Address): { readonly pending: object; readonly queued: object } {
    const write = (list: readonly SignedTransaction[]) =>
      Object.fromEntries(list.map((signed) => [`${signed.nonce}`, formatTransaction(signed)]));
    const { pending, queued } = poolView.of(view, address);
    return { pending: write(pending), queued: write(queued) };
  }

  const receipt = (record: TransactionRecord) => writeReceipt(record, makeBloom);
  const methods: Record<string, Method> = {
    eth_chainId: () => numberToHex(chainId),
    net_version: () => `${chainId}`,
    net_listening: () => true,
    net_peerCount: () => '0x19',
    web3_clientVersion: () => VERSION,
    eth_syncing: () => false,
    eth_accounts: () => [],
    eth_blockNumber: ({ head }) => numberToHex(head.number),
    eth_getBlockByNumber: readBlock,
    eth_getBlockByHash(view, params) {
      const block = branches.byHash(readHash(params, 0));
      if (block === undefined || block.number > view.head.number) return null;
      return params[1] === true ? writeFullBlock(block) : writeBlock(block);
    },
    eth_getBlockReceipts(view, params) {
      const tag = need(params, 0);
      const isHash = typeof tag === 'string' && tag.length === 66;
      const { block } = chooseBlock(ports, view, isHash ? { blockHash: tag } : tag);
      return block === undefined ? null : block.transactions.map(receipt);
    },
    eth_getBlockTransactionCountByNumber(view, params) {
      const { block } = chooseBlock(ports, view, need(params, 0));
      return block === undefined ? null : numberToHex(block.transactions.length);
    },
    eth_getTransactionByHash: (view, params) => findTransaction(view, readHash(params, 0)),
    eth_getTransactionReceipt(view, params) {
      const record = branches.findTransaction(readHash(params, 0), view.head);
      return record === undefined ? null : receipt(record);
    },
    eth_getTransactionCount: nonceOf,
    eth_getBalance: (view, params) => numberToHex(accountAt(view, params, 1).account?.balance ?? 0n),
    eth_getCode(view, params) {
      const { account } = accountAt(view, params, 1);
      return account === undefined ? '0x' : toHex(account.code);
    },
    eth_getStorageAt(view, params) {
      const address = readAddress(params, 0);
      const slot = readBytesOrQuantity(need(params, 1));
      const { block } = chooseState(ports, view, params[2], 2);
      const value = world.storage(block, keyOf(address), keyOf(slot));
      return `0x${toHex(value).slice(2).padStart(64, '0')}`;
    },
    eth_getLogs: getLogs,
    eth_gasPrice: ({ head }) => numberToHex(suggestTip(head) + head.baseFeePerGas),
    eth_maxPriorityFeePerGas: ({ head }) => numberToHex(suggestTip(head)),
    eth_feeHistory: feeHistory,
    eth_sendRawTransaction: send,
    txpool_contentFrom: (view, params) => contentFrom(view, readAddress(params, 0)),
    txpool_status(view) {
      const { pending, queued } = poolView.all(view);
      return { pending: numberToHex(pending.length), queued: numberToHex(queued.length) };
    },
    ...createCallMethods(ports),
  };
  return new Map(Object.entries(methods));
}

/** A slot, which nodes take with and without the zeros before it. */
function readBytesOrQuantity(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) {
    throw failParams('unable to decode storage key: invalid hex string');
  }
  return `0x${value.slice(2).toLowerCase().padStart(64, '0')}`;
}

/** @returns whether a log is one that a filter asks for */
function createLogMatch({ address, topics }: Record<string, unknown>): (log: LogRecord) => boolean {
  const list = (value: unknown) =>
    value === undefined || value === null
      ? undefined
      : new Set((Array.isArray(value) ? value : [value]).map((each) => `${each}`.toLowerCase()));
  const addresses = list(address);
  const wanted = (Array.isArray(topics) ? topics : []).map(list);
  return (log) => {
    if (addresses !== undefined && addresses.size > 0 && !addresses.has(log.address)) return false;
    if (wanted.length > log.topics.length) return false;
    return wanted.every(
      (choices, place) => choices === undefined || choices.size === 0 || choices.has(`${log.topics[place]}`),
    );
  };
}
