import { forwarderAbi } from '@prism-gateway/contracts';
import type { Logger } from '@prism-gateway/node/logs';
import { parseHash } from '@prism-gateway/node/rpc';
import { encodeFunctionData } from 'viem/utils';
import { chooseConfirmations } from '../chain/chooseConfirmations.ts';
import type { CallRpc, ReadRpc } from '../chain/createChainRpc.ts';
import { createNodes, openNodes } from '../chain/openNodes.ts';
import type { WatchedChainSettings } from './watchSettings.ts';

/** A chain that answers, and what counts on it. */
export interface OpenedChain {
  readonly rpc: ReadRpc;
  /** Each node by itself. */
  readonly nodes: readonly CallRpc[];
  readonly chainId: number;
  /** Blocks that finalize a transaction, the including one counted. */
  readonly confirmations: bigint;
  /** How long the Forwarder takes a signature, in seconds. */
  readonly maxAge: bigint;
}

/**
 * Opens a chain to be watched.
 *
 * @throws ChainError `WRONG_CHAIN`, `WRONG_FORWARDER`, and those of the node
 */
export async function openWatchedChain(
  chain: WatchedChainSettings,
  context: {
    readonly log: Logger;
    readonly now: () => number;
    readonly onLeftOut: (reason: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<OpenedChain> {
  const { log, now, onLeftOut, signal } = context;
  // It never simulates what is next.
  const onFallback = (reason: string) => log.debug({ reason }, 'no simulation');
  const nodes = { chain, log, now, random: Math.random, onFallback, onLeftOut, signal };
  const { chainId, rpc, nodes: own } = await openNodes(nodes, createNodes(nodes));
  const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'maxAge' });
  const call = ['eth_call', { to: chain.forwarder, data }, 'latest'] as const;
  const maxAge = await rpc.read(call, (word) => BigInt(parseHash(word, 'maximal age')));
  const confirmations = chooseConfirmations(chainId, chain.confirmations);
  return { rpc, nodes: own.map((node) => node.rpc), chainId, confirmations: BigInt(confirmations), maxAge };
}
