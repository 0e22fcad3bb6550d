import { forwarderAbi } from '@prism-gateway/contracts';
import type { Logger } from '@prism-gateway/node/logs';
import { createRpcClient, parseCount, type RpcClient } from '@prism-gateway/node/rpc';
import { hashForwarderDomain } from '@prism-gateway/protocol/typed-data';
import { encodeFunctionData } from 'viem/utils';
import type { ChainSettings } from '../settings/chainSettings.ts';
import { ChainError } from './chainError.ts';
import { type CallRpc, type ChainRpc, createChainRpc, type ReadRpc } from './createChainRpc.ts';

/** One node of `RPC_URL` by itself. */
export interface ChainNode {
  /** Like `node 2 of RPC_URL`: what it is called where its URL must not stand. */
  readonly name: string;
  /** The one way to it: what is asked at one moment, by whatever part, is one request. */
  readonly client: RpcClient;
  readonly rpc: ChainRpc;
  /** It did not answer when it was asked first. */
  readonly isSilent: boolean;
}

/** The nodes of a chain. */
export interface ChainNodes {
  readonly chainId: number;
  /** Asks the first of them that answers. */
  readonly rpc: ChainRpc;
  /** Those that are of the chain, or did not answer yet. There is at least one. */
  readonly nodes: readonly ChainNode[];
}

interface NodeContext {
  readonly chain: Pick<ChainSettings, 'chainName' | 'chainId' | 'forwarder' | 'rpcUrls'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly now: () => number;
  readonly random: () => number;
  readonly onFallback: (reason: string) => void;
  /** Called with a sentence of each node that is no good until the next start, also if it says so later than the others. */
  readonly onLeftOut: (reason: string) => void;
  readonly signal: AbortSignal;
}

/** The id of a node's chain, or why it is not known. */
interface Shown {
  readonly node: ChainNode;
  readonly answer: number | ChainError;
  /** The answer that it gives in the end. */
  readonly verified: Promise<number>;
}

/** How often a node is asked that is one of several: the others answer meanwhile. */
const ATTEMPTS = 2;
/** How long the others are waited for once one has shown its chain, in milliseconds. */
const TIMEOUT_MS = 3000;

const isOther = (answer: unknown): answer is ChainError =>
  answer instanceof ChainError && (answer.code === 'WRONG_CHAIN' || answer.code === 'WRONG_FORWARDER');

/** Looks at all of them at once. One that is silent is not waited for longer than it takes, once another one has shown its chain. */
async function verifyNodes(nodes: readonly ChainNode[], chain: NodeContext['chain']): Promise<readonly Shown[]> {
  const { promise: late, resolve } = Promise.withResolvers<ChainError>();
  let timer: NodeJS.Timeout | undefined;
  const asked = nodes.map(async (node): Promise<Shown> => {
    const verified = verifyForwarder(node.rpc, chain);
    verified.then(
      () => {
        timer ??= setTimeout(() => resolve(new ChainError('RPC_UNAVAILABLE', 'It does not answer.')), TIMEOUT_MS);
      },
      () => undefined,
    );
    try {
      return { node, verified, answer: await Promise.race([verified, late]) };
    } catch (error) {
      if (error instanceof ChainError) return { node, verified, answer: error };
      throw error;
    }
  });
  try {
    return await Promise.all(asked);
  } finally {
    clearTimeout(timer);
  }
}

/** Why none can be used: that of a silent one before that of one of another chain, for waiting may help. */
function describeFailure(shown: readonly Shown[]): unknown {
  const faults = shown.flatMap(({ node, answer }) => (answer instanceof ChainError ? [{ node, answer }] : []));
  const cause = (faults.find(({ answer }) => !isOther(answer)) ?? faults[0])?.answer;
  if (cause === undefined || faults.length === 1) return cause;
  const each = faults.map(({ node, answer }) => `${node.name}: ${answer.message}`).join(' ');
  return new ChainError(cause.code, `None of the nodes can be used. ${each}`, { cause });
}

/** @throws ChainError if none can be used */
function chooseChain(shown: readonly Shown[], { chain, log }: NodeContext): number {
  const answering = shown.flatMap((one) => (typeof one.answer === 'number' ? [{ ...one, answer: one.answer }] : []));
  const chainIds = [...new Set(answering.map((one) => one.answer))];
  const [chainId] = chainIds;
  if (chainId === undefined) {
    throw describeFailure(shown);
  }
  if (chainIds.length > 1) {
    const each = answering.map((one) => `${one.node.name} of chain ${one.answer}`).join(', ');
    const message = `The nodes of ${chain.chainName} are of different chains: ${each}. Set chainId, or take one out.`;
    throw new ChainError('WRONG_CHAIN', message);
  }
  for (const { node, answer } of shown) {
    if (!(answer instanceof ChainError)) continue;
    const facts = { node: node.name, reason: answer.message };
    if (isOther(answer)) log.warn(facts, 'a node is left out until the next start; the others are asked');
    else log.warn(facts, 'a node does not answer; the others are asked until it does');
  }
  return chainId;
}

/** Makes the way to each node of a chain by itself. */
export function createNodes({ chain, now, random, onFallback, signal }: NodeContext): readonly ChainNode[] {
  const attempts = chain.rpcUrls.length === 1 ? undefined : ATTEMPTS;
  return chain.rpcUrls.map((rpcUrl, index) => {
    const client = createRpcClient({ rpcUrl });
    const rpc = createChainRpc({ clients: [client], attempts, now, random, onFallback, signal });
    return { name: `node ${index + 1} of RPC_URL`, client, rpc, isSilent: false };
  });
}

/**
 * Finds out of which chain nodes are, and leaves those out that are of another one, or know no Forwarder at the address: one such node
 * among several holds nothing up.
 *
 * @returns the chain's id, and the way to those that are of it
 * @throws ChainError `WRONG_CHAIN`, `WRONG_FORWARDER` if none is of the chain, or two are of different ones; those of the node
 * @see docs/specification.md NODE-3
 */
export async function openNodes(context: NodeContext, nodes: readonly ChainNode[]): Promise<ChainNodes> {
  const shown = await verifyNodes(nodes, context.chain);
  const chainId = chooseChain(shown, context);
  const own = shown
    .filter(({ answer }) => !isOther(answer))
    .map(({ node, answer }) => ({ ...node, isSilent: answer instanceof ChainError }));
  const { now, random, onFallback, onLeftOut, signal } = context;
  for (const { node, verified } of shown) {
    verified.catch((error: unknown) => {
      if (isOther(error)) onLeftOut(`${node.name} is left out: ${error.message} Put it right, and start again.`);
    });
  }
  const clients = own.map(({ client }) => client);
  const [only] = own;
  const rpc =
    context.chain.rpcUrls.length === 1 && only !== undefined
      ? only.rpc
      : createChainRpc({ clients, chainId, now, random, onFallback, signal });
  return { chainId, rpc, nodes: own };
}

/**
 * Refuses a node of another chain, and an address that is not a Forwarder of this chain: nothing signed would be valid there. A node that
 * is syncing may have one later.
 *
 * @throws ChainError `WRONG_CHAIN`, `WRONG_FORWARDER`, and those of the node
 * @see docs/specification.md CHAIN-1
 */
async function verifyForwarder(
  rpc: CallRpc,
  chain: Pick<ChainSettings, 'chainName' | 'chainId' | 'forwarder'>,
): Promise<number> {
  const chainId = await rpc.read(['eth_chainId'], (answer) => parseCount(answer, 'chain id'));
  if (chain.chainId !== undefined && chain.chainId !== chainId) {
    throw new ChainError(
      'WRONG_CHAIN',
      `The node of ${chain.chainName} is on chain ${chainId}, not on ${chain.chainId}.`,
    );
  }
  const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'domainSeparator' });
  const answer = await rpc.attempt(['eth_call', { to: chain.forwarder, data }, 'latest']);
  // No code there answers with no bytes; nonsense is no word of any contract.
  const separator = 'returned' in answer ? answer.returned : '0x';
  if (separator === hashForwarderDomain({ chainId, forwarder: chain.forwarder })) return chainId;
  if (await isSyncing(rpc)) throw new ChainError('RPC_UNAVAILABLE', 'It is syncing, and has no Forwarder yet.');
  throw new ChainError('WRONG_FORWARDER', `At ${chain.forwarder} on chain ${chainId} is no Forwarder of this version.`);
}

/** Whether a node has not come to the block of a contract yet. One that does not say so has. */
async function isSyncing(rpc: ReadRpc): Promise<boolean> {
  const ask = (method: string, says: (answer: unknown) => boolean) =>
    rpc.read([method], says).catch((error: unknown) => {
      if (error instanceof ChainError) return false;
      throw error;
    });
  return (
    (await ask('eth_syncing', (answer) => typeof answer === 'object' && answer !== null)) ||
    (await ask('eth_blockNumber', (answer) => answer === '0x0'))
  );
}
