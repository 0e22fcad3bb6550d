import { encodeForwarderCall } from '@prism-gateway/contracts';
import { ChainError } from '../chain/chainError.ts';
import { type ChainReader, nextBlock } from '../chain/chainReader.ts';
import { createPatience } from '../chain/createPatience.ts';
import { decodeReason, nameReason } from '../chain/decodeReason.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { readNothingDone } from '../checks/checkRequest.ts';
import { mostGas, transactionTerms } from '../checks/transactionTerms.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import { type AskNodesPorts, isFresh, type TrustHead, withoutAnswer } from './askNodes.ts';
import type { NoteAlone, NoteDispute } from './createNodeNotes.ts';
import { gatherVotes, MAJORITY, weighVotes } from './gatherVotes.ts';
import type { OpenRequest } from './openRequest.ts';

/** Asks whether a request that looks as if it would be refused may be reported failed for that. @throws ChainError where no node answers */
export type BearRefusal = (request: OpenRequest) => Promise<boolean>;

/** A node by itself, and what it is called. */
export interface RefusalWitness {
  readonly name: string;
  readonly isSilent?: boolean;
  readonly chain: Pick<ChainReader, 'head' | 'simulate'>;
}

interface RefusalPorts extends Pick<AskNodesPorts, 'maxHeadAgeSeconds' | 'now'> {
  readonly nodes: readonly RefusalWitness[];
  readonly state: Pick<ChainState, 'seconds'>;
  readonly settings: Pick<ChainSettings, 'maxFeePerGas'>;
  /** For a single node. */
  readonly trustHead: TrustHead;
  readonly noteDispute: NoteDispute;
  readonly noteAlone: NoteAlone;
}

/** What a node says of a request. */
interface Told {
  readonly node: RefusalWitness;
  readonly isFresh: boolean;
  /** Why it would not be carried out; undefined: it would be. */
  readonly refusal: string | undefined;
}

/** That it comes too early ends nothing. */
const isTooEarly = (reverted: `0x${string}` | undefined) => nameReason(reverted) === 'RequestNotYetOpen';

async function askNode(ports: RefusalPorts, node: RefusalWitness, { record, gas }: OpenRequest): Promise<Told> {
  const head = await node.chain.head();
  const block = nextBlock(head, await ports.state.seconds());
  // A wallet can tell a transaction from a call that pays nothing.
  const terms = gas === undefined ? undefined : transactionTerms({ gas, head, ceiling: ports.settings.maxFeePerGas });
  const simulated = readNothingDone(record, await node.chain.simulate(encodeForwarderCall(record).data, block, terms));
  const told = { node, isFresh: isFresh(ports, head) };
  if (!('reverted' in simulated)) {
    const isTooLarge = simulated.gas > mostGas(head);
    return { ...told, refusal: isTooLarge ? `that it needs ${simulated.gas} gas` : undefined };
  }
  const { reverted } = simulated;
  return { ...told, refusal: isTooEarly(reverted) ? undefined : `that it would revert: ${decodeReason(reverted)}` };
}

const describe = ({ refusal }: Told) => (refusal === undefined ? 'well' : 'refused');
const describeFresh = (told: Told) => `${told.isFresh} ${describe(told)}`;
const state = ({ node: { name }, refusal = 'that it would be carried out' }: Told) => ({ name, says: refusal });

/**
 * Makes the question whether nodes bear it out that a request would be refused, each by a simulation of its own. Of several nodes two have
 * to say so, more than say otherwise, or the only one that answers with a fresh newest block. One that is alone with it is not asked any
 * more for a minute, so that the request goes on; while they do not agree, nothing ends, and the health says which says what.
 *
 * @see docs/specification.md RELAY-20
 */
export function createBearRefusal(ports: RefusalPorts): BearRefusal {
  const { trustHead, noteDispute, noteAlone } = ports;
  const nodes = ports.nodes.map((node) => ({ node, wait: createPatience(node.isSilent) }));
  if (nodes.length < MAJORITY) return async () => await trustHead();
  return async function bearRefusal(request) {
    const { requestId } = request;
    let fault: ChainError | undefined;
    async function ask(node: RefusalWitness): Promise<Told | undefined> {
      const told = await withoutAnswer(askNode(ports, node, request));
      if (!(told instanceof ChainError)) return told;
      fault ??= told;
      return undefined;
    }
    const said = await gatherVotes(nodes, { ask: ({ node, wait }) => wait(ask(node)), describe: describeFresh });
    if (said.length === 0 && fault !== undefined) throw fault;
    const word = weighVotes(said, describe);
    const isDisputed = word === undefined && new Set(said.map(describe)).size > 1;
    noteDispute(`the outcome of request ${requestId}`, isDisputed ? said.map(state) : []);
    if (word === undefined || word.refusal !== undefined) return word !== undefined;
    for (const { node, refusal } of said) {
      if (refusal === undefined) continue;
      noteAlone(ports.nodes.indexOf(node), { subject: 'a simulation', says: `${refusal} (request ${requestId})` });
    }
    return false;
  };
}
