import { forwarderAbi } from '@prism-gateway/contracts';
import {
  type CostModel,
  chooseTip,
  type ExtraCost,
  mostAgreed,
  parseAddress,
  parseBytes,
  parseHash,
  parseQuantity,
  parseRecord,
  type Revert,
  type Simulated,
  type SimulatedBlock,
  type SimulatedCall,
  TIP_HISTORY,
} from '@prism-gateway/node/rpc';
import { type Hex, zeroHash } from 'viem';
import { encodeFunctionData, numberToHex } from 'viem/utils';
import { ChainError } from './chainError.ts';
import { type ChainRpc, type ReadRpc, readBlockTime } from './createChainRpc.ts';

/** The newest block. */
export interface Block {
  readonly number: bigint;
  /** Unix time in seconds. */
  readonly timestamp: bigint;
  /** In wei. */
  readonly baseFeePerGas: bigint;
  /** Most gas of a block. */
  readonly gasLimit: bigint;
  readonly feeRecipient: Hex;
  readonly prevRandao: Hex;
}

/** The newest block, and what gas costs after it. */
export interface BlockHead extends Block {
  /** Expected price of a unit of gas, in wei: base fee and tip. */
  readonly gasPrice: bigint;
  /** Funds needed for a unit of gas, in wei: the base fee may double before a block takes it. */
  readonly gasReserve: bigint;
  /** Price beyond the base fee for a unit of gas, in wei. */
  readonly tip: bigint;
}

/** The price of gas after a block. @param tip - in wei */
export function priceBlock(block: Block, tip: bigint): BlockHead {
  const { baseFeePerGas } = block;
  return { ...block, tip, gasPrice: baseFeePerGas + tip, gasReserve: 2n * baseFeePerGas + tip };
}

/** The Forwarder's policy for this relayer. */
export interface ForwarderPolicy {
  readonly isOfficial: boolean;
  /** Seconds. */
  readonly priorityWindow: bigint;
  /** Seconds. */
  readonly maxAge: bigint;
  /** Its share of a fee, in basis points. */
  readonly shareBps: bigint;
}

/** A relayer's reads of a chain; every function throws ChainError if the node does not answer, or nonsense. */
export type ChainReader = ReturnType<typeof createChainReader>;

const FULL_SHARE_BPS = 10_000n;
/** How often a newest block is read without the history of fees after the node has not reported it. */
const HEADS_WITHOUT_HISTORY = 50;

type View = 'priorityWindow' | 'maxAge' | 'relayerShareBps' | 'isOfficialRelayer' | 'nonces';

function parseBlock(answer: unknown): Block {
  const block = parseRecord(answer, 'block');
  return {
    number: parseQuantity(block.number, 'block number'),
    timestamp: parseQuantity(block.timestamp, 'block time'),
    baseFeePerGas: parseQuantity(block.baseFeePerGas, 'base fee'),
    gasLimit: parseQuantity(block.gasLimit, 'gas limit'),
    feeRecipient: parseAddress(block.miner, 'fee recipient'),
    // Not every rollup has one.
    prevRandao: block.mixHash === undefined ? zeroHash : parseHash(block.mixHash, 'prevRandao'),
  };
}

/** The block that comes after a head, as far as it is known. @param seconds - Unix time that it is expected to have */
export function nextBlock(head: Block, seconds: bigint): SimulatedBlock {
  const { timestamp, baseFeePerGas, feeRecipient, prevRandao } = head;
  // A node simulates only blocks that are later than the newest one.
  return { seconds: seconds > timestamp ? seconds : timestamp + 1n, baseFeePerGas, feeRecipient, prevRandao };
}

/** Reads a signer's forwarder nonce after a block. @throws ChainError, also if the node has forgotten the state of that block */
export async function readNonceAt(
  { rpc, forwarder }: { readonly rpc: ReadRpc; readonly forwarder: Hex },
  { signer, block }: { readonly signer: Hex; readonly block: bigint },
): Promise<bigint> {
  const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'nonces', args: [signer] });
  const call = ['eth_call', { to: forwarder, data }, numberToHex(block)] as const;
  return await rpc.read(call, (answer) => BigInt(parseHash(answer, 'forwarder nonce')));
}

/**
 * Makes the questions that the relayer has to a chain.
 *
 * @param options.relayer - the relayer's own address: simulations are made as if it sent them
 */
export function createChainReader(options: {
  readonly rpc: ChainRpc;
  readonly forwarder: Hex;
  readonly relayer: Hex;
  readonly costs: CostModel;
}) {
  const { rpc, forwarder, relayer, costs } = options;

  async function view(functionName: View, args: readonly unknown[] = []): Promise<bigint> {
    // The views' arguments are one address or none, which their callers give.
    const data = encodeFunctionData({ abi: forwarderAbi, functionName, args: args as never });
    // One number, or one truth value as 0 or 1: a word of 32 bytes.
    return await rpc.read(['eth_call', { to: forwarder, data }, 'latest'], (word) =>
      BigInt(parseHash(word, functionName)),
    );
  }

  let headsWithoutHistory = 0;
  /** The tips of the last blocks. @returns undefined if the node does not say: it is asked again seldom */
  async function readTips(): Promise<((suggested: bigint) => bigint) | undefined> {
    if (headsWithoutHistory > 0) {
      headsWithoutHistory -= 1;
      return undefined;
    }
    try {
      return await rpc.read(['eth_feeHistory', ...TIP_HISTORY], (answer) => {
        // Read here, so that what cannot be read is the answer's fault.
        chooseTip(0n, answer);
        return (suggested) => chooseTip(suggested, answer);
      });
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      headsWithoutHistory = HEADS_WITHOUT_HISTORY;
      return undefined;
    }
  }

  const readBlock = () => rpc.read(['eth_getBlockByNumber', 'latest', false], parseBlock);

  async function readTip(): Promise<bigint> {
    const [suggested, choose] = await Promise.all([
      rpc.read(['eth_maxPriorityFeePerGas'], (answer) => parseQuantity(answer, 'tip')),
      readTips(),
    ]);
    return choose === undefined ? suggested : choose(suggested);
  }

  return {
    forwarder,
    relayer,
    /** The newest block: one call. */
    block: readBlock,
    /** Price beyond the base fee for a unit of gas, in wei: two calls. */
    tip: readTip,
    /** Both. */
    async head(): Promise<BlockHead> {
      const [block, tip] = await Promise.all([readBlock(), readTip()]);
      return priceBlock(block, tip);
    },
    /** The time of the block that the node would make now, in Unix seconds; many nodes say that of the newest one. */
    pendingSeconds: async (): Promise<bigint> => (await readBlockTime(rpc, 'pending')) ?? 0n,
    async policy(): Promise<ForwarderPolicy> {
      const [official, maxAge] = await Promise.all([view('isOfficialRelayer', [relayer]), view('maxAge')]);
      // An official one waits for no window, and gets all of a fee.
      if (official !== 0n) return { isOfficial: true, priorityWindow: 0n, maxAge, shareBps: FULL_SHARE_BPS };
      const [priorityWindow, shareBps] = await Promise.all([view('priorityWindow'), view('relayerShareBps')]);
      return { isOfficial: false, priorityWindow, maxAge, shareBps };
    },
    /** The forwarder nonce of each signer, by address as given; one whose nonce could not be read is missing. It throws if none could. */
    async nonces(signers: readonly Hex[]): Promise<ReadonlyMap<Hex, bigint>> {
      const nonces = new Map<Hex, bigint>();
      let fault: ChainError | undefined;
      async function ask(signer: Hex): Promise<void> {
        try {
          nonces.set(signer, await view('nonces', [signer]));
        } catch (error) {
          if (!(error instanceof ChainError)) throw error;
          fault ??= error;
        }
      }
      await Promise.all([...new Set(signers)].map(ask));
      if (nonces.size === 0 && fault !== undefined) throw fault;
      return nonces;
    },
    /** Simulates a call of the Forwarder by this relayer. @param terms - of the very transaction; without them nothing is paid */
    simulate: (data: Hex, block: SimulatedBlock, terms?: SimulatedCall['terms']): Promise<Simulated> =>
      rpc.simulate({ from: relayer, to: forwarder, data, ...(terms !== undefined && { terms }) }, block),
    /** Repeats a call of the Forwarder by this relayer, after a block and with its time. @returns undefined if it does not revert */
    async replay(data: Hex, block: bigint): Promise<Revert | undefined> {
      const outcome = await rpc.attempt(['eth_call', { from: relayer, to: forwarder, data }, numberToHex(block)]);
      return 'reverted' in outcome ? outcome : undefined;
    },
    /** Costs of a transaction to the Forwarder beside its execution. @param gas - that the execution uses */
    extraCost: (data: Hex, gas: bigint): Promise<ExtraCost> => costs.extraCost({ to: forwarder, data, gas }),
    /** The relayer's ether, in wei, as the nodes have it together: one that says too little does not stop the relayer. */
    async balance(): Promise<bigint> {
      const parse = (answer: unknown) => parseQuantity(answer, 'balance');
      return mostAgreed(await rpc.readEach(['eth_getBalance', relayer, 'latest'], parse));
    },
    /** The code at an address, in lower case; `0x` if there is none. */
    code: (address: Hex): Promise<Hex> =>
      rpc.read(['eth_getCode', address, 'latest'], (code) => parseBytes(code, 'code')),
    /** A word of a contract's storage, in lower case. */
    storage: (address: Hex, slot: Hex): Promise<Hex> =>
      rpc.read(['eth_getStorageAt', address, slot, 'latest'], (word) => parseHash(word, 'storage')),
  };
}
