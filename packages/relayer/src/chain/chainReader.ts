import { forwarderAbi } from '@prism-gateway/contracts';
import { parseBytes, parseHash, parseQuantity, parseRecord, type Revert, type Simulated } from '@prism-gateway/rpc';
import type { Hex } from 'viem';
import { encodeFunctionData, numberToHex } from 'viem/utils';
import type { ChainRpc } from './createChainRpc.ts';
import { readBlockTime } from './readBlockTime.ts';

/** The newest block, and what gas costs after it. */
export interface BlockHead {
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
  head(): Promise<BlockHead>;
  /** The time of the block that the node would make now, in Unix seconds; many nodes say that of the newest one. */
  pendingSeconds(): Promise<bigint>;
  policy(): Promise<ForwarderPolicy>;
  /** The forwarder nonce of each signer, by address as given; one whose nonce could not be read is missing. */
  nonces(signers: readonly Hex[]): Promise<ReadonlyMap<Hex, bigint>>;
  /** Simulates a call of the Forwarder by this relayer. @param seconds - Unix time that the next block is expected to have */
  simulate(data: Hex, seconds: bigint): Promise<Simulated>;
  /** Repeats a call of the Forwarder by this relayer, after a block and with its time. @returns what it reverts with; undefined where it does not */
  replay(data: Hex, block: bigint): Promise<Revert | undefined>;
  /** The relayer's ether, in wei. */
  balance(): Promise<bigint>;
  /** Whether there is code at an address: an ERC-1271 wallet. */
  hasCode(address: Hex): Promise<boolean>;
}

const FULL_SHARE_BPS = 10_000n;

type View = 'priorityWindow' | 'maxAge' | 'relayerShareBps' | 'isOfficialRelayer' | 'nonces';

function parseBlock(answer: unknown): { number: bigint; timestamp: bigint; baseFee: bigint } {
  const block = parseRecord(answer, 'block');
  return {
    number: parseQuantity(block.number, 'block number'),
    timestamp: parseQuantity(block.timestamp, 'block time'),
    baseFee: parseQuantity(block.baseFeePerGas, 'base fee'),
  };
}

/**
 * Makes the questions that the relayer has to a chain.
 *
 * @param options.rpc - makes the calls
 * @param options.forwarder - address of the Forwarder
 * @param options.relayer - the relayer's own address: simulations are made as if it sent them
 */
export function createChainReader(options: {
  readonly rpc: ChainRpc;
  readonly forwarder: Hex;
  readonly relayer: Hex;
}): ChainReader {
  const { rpc, forwarder, relayer } = options;

  async function view(functionName: View, args: readonly unknown[] = []): Promise<bigint> {
    // The views' arguments are one address or none, which their callers give.
    const data = encodeFunctionData({ abi: forwarderAbi, functionName, args: args as never });
    // One number, or one truth value as 0 or 1: a word of 32 bytes.
    return await rpc.read(['eth_call', { to: forwarder, data }, 'latest'], (word) =>
      BigInt(parseHash(word, functionName)),
    );
  }

  return {
    forwarder,
    relayer,
    async head() {
      const [block, tip] = await Promise.all([
        rpc.read(['eth_getBlockByNumber', 'latest', false], parseBlock),
        rpc.read(['eth_maxPriorityFeePerGas'], (answer) => parseQuantity(answer, 'tip')),
      ]);
      const { number, timestamp, baseFee } = block;
      return { number, timestamp, gasPrice: baseFee + tip, gasReserve: 2n * baseFee + tip };
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
    simulate: (data, seconds) => rpc.simulate({ from: relayer, to: forwarder, data }, seconds),
    async replay(data, block) {
      const outcome = await rpc.attempt(['eth_call', { from: relayer, to: forwarder, data }, numberToHex(block)]);
      return 'reverted' in outcome ? outcome : undefined;
    },
    balance: () => rpc.read(['eth_getBalance', relayer, 'latest'], (answer) => parseQuantity(answer, 'balance')),
    hasCode: (address) => rpc.read(['eth_getCode', address, 'latest'], (code) => parseBytes(code, 'code') !== '0x'),
  };
}
