import { ChainError } from '../chain/chainError.ts';
import type { BlockHead } from '../chain/chainReader.ts';
import { createPatience } from '../chain/createPatience.ts';
import type { AskChain, AskedRequest, ChainAnswer } from './askChain.ts';
import type { NoteDispute } from './createNodeNotes.ts';
import { gatherVotes, MAJORITY, weighVotes } from './gatherVotes.ts';

/** A node, and the question to it. */
export interface AskedNode {
  /** What it is called where its URL must not stand. */
  readonly name: string;
  /** It did not answer when it was asked first. */
  readonly isSilent?: boolean;
  readonly ask: AskChain;
  readonly head: () => Promise<Pick<BlockHead, 'number' | 'timestamp'>>;
}

/** What is asked, and when a node's newest block is fresh. */
export interface AskNodesPorts {
  /** Each stands for itself alone. */
  readonly nodes: readonly AskedNode[];
  /** Age from which a newest block is stale, in seconds; 0: none is, for blocks come only with transactions. */
  readonly maxHeadAgeSeconds: number;
  readonly now: () => number;
}

/** What a node says, and whether its newest block is fresh. */
interface NodeAnswer {
  readonly name: string;
  readonly answer: ChainAnswer;
  readonly isFresh: boolean;
  readonly head: bigint;
}

/** Whether a newest block is young enough to be believed by itself. */
export function isFresh(
  { maxHeadAgeSeconds, now }: Pick<AskNodesPorts, 'maxHeadAgeSeconds' | 'now'>,
  { timestamp }: Pick<BlockHead, 'timestamp'>,
): boolean {
  return maxHeadAgeSeconds === 0 || Number(timestamp) * 1000 >= now() - maxHeadAgeSeconds * 1000;
}

interface Question {
  readonly request: AskedRequest;
  readonly knownBlock: bigint | undefined;
}

/** The head is read before the answer: what the answer is made from is no older. */
async function askNode(
  ports: AskNodesPorts,
  { name, ask, head: readHead }: AskedNode,
  { request, knownBlock }: Question,
): Promise<NodeAnswer> {
  const head = await readHead();
  return { name, answer: await ask(request, knownBlock), isFresh: isFresh(ports, head), head: head.number };
}

/** @returns the error where there is no answer */
export async function withoutAnswer<T>(asked: Promise<T>): Promise<T | ChainError> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ChainError) return error;
    throw error;
  }
}

const describe = ({ answer }: NodeAnswer) => JSON.stringify(answer);
const describeFresh = (said: NodeAnswer) => `${said.isFresh} ${describe(said)}`;

/** What an answer says, for the operator. */
function state({ name, answer, head }: NodeAnswer) {
  const what =
    answer.kind === 'executed'
      ? `executed in ${answer.txHash}`
      : answer.kind === 'replaced'
        ? answer.reason
        : answer.kind;
  return { name, says: `that it is ${what}, up to its block ${head}` };
}

/**
 * Makes the question what became of a request such that its answer may end the request. All nodes are asked. What most of those say whose
 * newest block is fresh counts, which are two, or the only one that answers; of stale ones two have to agree. So a node that has fallen
 * behind, or lies about its newest block or what stands in it, ends nothing: while nodes do not agree the answer is `unsettled`.
 *
 * @throws ChainError where none answers
 * @see docs/specification.md RELAY-20
 */
export function createAskNodes(ports: AskNodesPorts & { readonly noteDispute: NoteDispute }): AskChain {
  const nodes = ports.nodes.map((node) => ({ node, wait: createPatience(node.isSilent) }));
  return async function askNodes(request, knownBlock) {
    let fault: ChainError | undefined;
    async function ask(node: AskedNode): Promise<NodeAnswer | undefined> {
      const answer = await withoutAnswer(askNode(ports, node, { request, knownBlock }));
      if (!(answer instanceof ChainError)) return answer;
      fault ??= answer;
      return undefined;
    }
    // Those that are fresh and those that are stale are counted apart.
    const said = await gatherVotes(nodes, { ask: ({ node, wait }) => wait(ask(node)), describe: describeFresh });
    if (said.length === 0 && fault !== undefined) throw fault;
    const answer = weighVotes(said, describe)?.answer;
    const isDisputed = answer === undefined && new Set(said.map(describe)).size > 1;
    ports.noteDispute(`request ${request.record.requestId}`, isDisputed ? said.map(state) : []);
    return answer ?? { kind: 'unsettled' };
  };
}

/** Tells whether the chain as it is read can be believed where a check would end a request. */
export type TrustHead = () => Promise<boolean>;

/**
 * Makes the question whether what is read is up to date: the newest block is fresh, or two nodes know none that is newer.
 *
 * @param ports.head - the newest block, as the checks see it
 * @throws ChainError where it cannot be read
 * @see docs/specification.md RELAY-20
 */
export function createTrustHead(ports: AskNodesPorts & { readonly head: AskedNode['head'] }): TrustHead {
  return async function trustHead() {
    const head = await ports.head();
    if (isFresh(ports, head)) return true;
    const heads = await Promise.all(ports.nodes.map((node) => withoutAnswer(node.head())));
    return heads.filter((other) => !(other instanceof ChainError) && other.number <= head.number).length >= MAJORITY;
  };
}
