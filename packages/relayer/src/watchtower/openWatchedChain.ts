import { forwarderAbi } from '@prism-gateway/contracts';
import { parseHash } from '@prism-gateway/rpc';
import type { Logger } from '@prism-gateway/runtime/logs';
import { encodeFunctionData } from 'viem/utils';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import { createNodes, openNodes } from '../chain/openNodes.ts';
import type { WatchedChainSettings } from './watchSettings.ts';

/** Chain id of Anvil and Hardhat, which make a block when a transaction comes: a second confirmation might never come. */
const DEV_CHAIN_ID = 31_337;
const DEFAULT_CONFIRMATIONS = 3;

/** A chain that answers, and what counts on it. */
export interface OpenedChain {
  readonly rpc: Pick<ChainRpc, 'read'>;
  /** Each node by itself, where there are several. */
  readonly witnesses: readonly Pick<ChainRpc, 'read'>[];
  readonly chainId: number;
  /** Blocks that settle a transaction, the including one counted. */
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
  context: { readonly log: Logger; readonly now: () => number; readonly signal: AbortSignal },
): Promise<OpenedChain> {
  const { log, now, signal } = context;
  // It never simulates.
  const onFallback = (reason: string) => log.debug({ reason }, 'no simulation');
  const nodes = { chain, log, now, random: Math.random, onFallback, signal };
  const { chainId, rpc, nodes: own } = await openNodes(nodes, createNodes(nodes));
  // Where there is one, nobody else can bear it out.
  const witnesses = own.length === 1 ? [] : own.map((node) => node.rpc);
  const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'maxAge' });
  const call = ['eth_call', { to: chain.forwarder, data }, 'latest'] as const;
  const maxAge = await rpc.read(call, (word) => BigInt(parseHash(word, 'maximal age')));
  const confirmations = chain.confirmations ?? (chainId === DEV_CHAIN_ID ? 1 : DEFAULT_CONFIRMATIONS);
  return { rpc, witnesses, chainId, confirmations: BigInt(confirmations), maxAge };
}
