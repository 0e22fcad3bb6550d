import { forwarderAbi, type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import type { Hex } from 'viem';
import { encodeFunctionData, numberToHex } from 'viem/utils';
import type { Rpc } from './createRpc.ts';
import { createSimulator, type Simulated } from './createSimulator.ts';
import { readBytes, readList, readQuantity, readRecord, readWord } from './readAnswer.ts';
import { readBlockTime } from './readBlockTime.ts';
import { readLog } from './readLog.ts';

/** The newest block, and what gas costs after it. */
export interface Head {
  readonly number: bigint;
  /** Unix time in seconds. */
  readonly timestamp: bigint;
  /** What a unit of gas is expected to cost, in wei: base fee and tip. */
  readonly gasPrice: bigint;
  /** What has to be there for a unit of gas, in wei: the base fee may double before a block takes it. */
  readonly gasReserve: bigint;
}

/** What the Forwarder says of this relayer. */
export interface ForwarderPolicy {
  readonly isOfficial: boolean;
  /** Seconds. */
  readonly priorityWindow: bigint;
  /** Seconds. */
  readonly maxAge: bigint;
  /** What it gets of a fee, in basis points. */
  readonly shareBps: bigint;
}

/** What the relayer asks a chain; every function throws ChainError where the node does not answer, or nonsense. */
export interface ChainReader {
  readonly forwarder: Hex;
  /** The relayer's own address. */
  readonly relayer: Hex;
  head(): Promise<Head>;
  /** The time of the block that the node would make now, in Unix seconds; many nodes say that of the newest one. */
  pendingSeconds(): Promise<bigint>;
  policy(): Promise<ForwarderPolicy>;
  /** The forwarder nonce of each signer, by address as given; one whose nonce could not be read is missing. */
  nonces(signers: readonly Hex[]): Promise<ReadonlyMap<Hex, bigint>>;
  /** Simulates a call of the Forwarder by this relayer. @param seconds - Unix time that the next block is expected to have */
  simulate(data: Hex, seconds: bigint): Promise<Simulated>;
  /** Repeats a call of the Forwarder by this relayer, after a block and with its time. @returns what it reverts with; undefined where it does not */
  replay(data: Hex, block: bigint): Promise<{ readonly reverted: Hex | undefined } | undefined>;
  /** The relayer's ether, in wei. */
  balance(): Promise<bigint>;
  /** Whether there is code at an address: an ERC-1271 wallet. */
  hasCode(address: Hex): Promise<boolean>;
  /** The calldata of a mined transaction, in lower case. */
  calldata(txHash: Hex): Promise<Hex>;
  /** The Forwarder's events of a mined transaction, in the order of a batch's entries. */
  events(txHash: Hex): Promise<readonly RequestExecuted[]>;
}

const FULL_SHARE_BPS = 10_000n;

type View = 'priorityWindow' | 'maxAge' | 'relayerShareBps' | 'isOfficialRelayer' | 'nonces';

/**
 * Makes the questions that the relayer has to a chain.
 *
 * @param options.rpc - makes the calls
 * @param options.forwarder - address of the Forwarder
 * @param options.relayer - the relayer's own address: simulations are made as if it sent them
 */
export function createChainReader(options: {
  readonly rpc: Rpc;
  readonly forwarder: Hex;
  readonly relayer: Hex;
}): ChainReader {
  const { rpc, forwarder, relayer } = options;

  const simulate = createSimulator(rpc);

  async function view(functionName: View, args: readonly unknown[] = []): Promise<bigint> {
    // The views' arguments are one address or none, which their callers give.
    const data = encodeFunctionData({ abi: forwarderAbi, functionName, args: args as never });
    const answer = readBytes(await rpc.call('eth_call', [{ to: forwarder, data }, 'latest']), functionName);
    return readWord(answer, functionName);
  }

  return {
    forwarder,
    relayer,
    async head() {
      const [answer, tip] = await Promise.all([
        rpc.call('eth_getBlockByNumber', ['latest', false]),
        rpc.call('eth_maxPriorityFeePerGas', []),
      ]);
      const block = readRecord(answer, 'block');
      const baseFee = readQuantity(block.baseFeePerGas, 'base fee');
      const priorityFee = readQuantity(tip, 'tip');
      return {
        number: readQuantity(block.number, 'block number'),
        timestamp: readQuantity(block.timestamp, 'block time'),
        gasPrice: baseFee + priorityFee,
        gasReserve: 2n * baseFee + priorityFee,
      };
    },
    pendingSeconds: async () => (await readBlockTime(rpc, 'pending')) ?? 0n,
    async policy() {
      const [official, priorityWindow, maxAge, share] = await Promise.all([
        view('isOfficialRelayer', [relayer]),
        view('priorityWindow'),
        view('maxAge'),
        view('relayerShareBps'),
      ]);
      const isOfficial = official !== 0n;
      return { isOfficial, priorityWindow, maxAge, shareBps: isOfficial ? FULL_SHARE_BPS : share };
    },
    async nonces(signers) {
      const distinct = [...new Set(signers)];
      const counted = await Promise.allSettled(
        distinct.map(async (signer) => [signer, await view('nonces', [signer])] as const),
      );
      return new Map(counted.filter((one) => one.status === 'fulfilled').map(({ value }) => value));
    },
    simulate: (data, seconds) => simulate({ from: relayer, to: forwarder, data }, seconds),
    async replay(data, block) {
      const outcome = await rpc.attempt('eth_call', [{ from: relayer, to: forwarder, data }, numberToHex(block)]);
      return 'reverted' in outcome ? outcome : undefined;
    },
    balance: async () => readQuantity(await rpc.call('eth_getBalance', [relayer, 'latest']), 'balance'),
    hasCode: async (address) => readBytes(await rpc.call('eth_getCode', [address, 'latest']), 'code') !== '0x',
    async calldata(txHash) {
      const transaction = readRecord(await rpc.call('eth_getTransactionByHash', [txHash]), 'transaction');
      // Lower case of hex is hex.
      return readBytes(transaction.input, 'calldata').toLowerCase() as Hex;
    },
    async events(txHash) {
      const receipt = readRecord(await rpc.call('eth_getTransactionReceipt', [txHash]), 'receipt');
      return readRequestExecuted({ logs: readList(receipt.logs, 'logs').map(readLog), forwarder });
    },
  };
}
