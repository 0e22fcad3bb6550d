import type { CostModel } from '@prism-gateway/rpc';
import { type ChainReader, createChainReader } from '../chain/chainReader.ts';
import { createFindExecution } from '../chain/createFindExecution.ts';
import { createFindInvalidation } from '../chain/createFindInvalidation.ts';
import type { ChainNode } from '../chain/openNodes.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import { type AskPorts, askChain } from './askChain.ts';
import { type AskedNode, createAskNodes, createTrustHead } from './askNodes.ts';
import type { ChainParts } from './chainWork.ts';
import { createBearOut } from './createBearOut.ts';
import { createBearRefusal, type RefusalWitness } from './createBearRefusal.ts';
import { createDisputes } from './createDisputes.ts';
import type { Health } from './createHealth.ts';
import type { NoteAlone } from './createNodeNotes.ts';
import { createNodeWatch, type WatchedNode } from './createNodeWatch.ts';
import { createSimulateTogether } from './createSimulateTogether.ts';

/** What the questions to each node go through. */
interface QuestionOptions extends Pick<AskPorts, 'recovery' | 'confirmations'> {
  readonly state: Pick<ChainState, 'policy' | 'seconds'>;
  readonly settings: Pick<ChainSettings, 'maxFeePerGas'>;
  readonly noteAlone: NoteAlone;
  readonly nodes: readonly ChainNode[];
  /** The chain as the checks see it. */
  readonly chain: Pick<ChainReader, 'head' | 'forwarder' | 'relayer' | 'simulate'>;
  /** Block in which the Forwarder's events begin. */
  readonly fromBlock: bigint;
  readonly costs: CostModel;
  /** Age from which a newest block is stale, in seconds; 0: none is. */
  readonly maxHeadAgeSeconds: number;
  readonly health: Pick<Health, 'noteWell' | 'noteFailure' | 'warn'>;
  readonly now: () => number;
}

/** Makes the question to one node. */
function createReaderAsk(
  { name, isSilent, rpc }: ChainNode,
  options: QuestionOptions,
): AskedNode & Pick<RefusalWitness, 'chain'> & WatchedNode {
  const { chain: all, fromBlock, costs, state, recovery, confirmations } = options;
  const { forwarder, relayer } = all;
  const chain = createChainReader({ rpc, forwarder, relayer, costs });
  const events = { rpc, forwarder, fromBlock };
  const ports = {
    ...{ chain, state, recovery, confirmations },
    findExecution: createFindExecution(events),
    findInvalidation: createFindInvalidation(events),
  };
  return {
    name,
    isSilent,
    chain,
    head: () => chain.head(),
    ask: (request, knownBlock) => askChain(ports, { request, knownBlock }),
  };
}

/**
 * Makes the questions whose answers end requests: whichever node the chain is read from, the others have to bear it out.
 *
 * @param options - each node by itself, and the chain as it is read
 */
export function openQuestions(
  options: QuestionOptions,
): Pick<ChainParts, 'askNodes' | 'bearRefusal' | 'bearOut' | 'simulateTogether' | 'lookAtNodes'> {
  const { nodes: witnesses, chain, confirmations, maxHeadAgeSeconds, noteAlone, now } = options;
  const nodes = witnesses.map((node) => createReaderAsk(node, options));
  const noteDispute = createDisputes(options);
  const asking = { nodes, maxHeadAgeSeconds, now };
  const trustHead = createTrustHead({ ...asking, head: () => chain.head() });
  return {
    askNodes: createAskNodes({ ...asking, noteDispute }),
    bearRefusal: createBearRefusal({ ...options, nodes, trustHead, noteDispute }),
    lookAtNodes: createNodeWatch({ nodes, noteAlone, health: options.health, now }),
    simulateTogether: createSimulateTogether({ chain, nodes, noteDispute, now }),
    bearOut: createBearOut({ witnesses, from: chain.relayer, confirmations, noteDispute, noteAlone, now }),
  };
}
