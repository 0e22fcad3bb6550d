import { ChainError } from '../chain/chainError.ts';
import type { BlockHead } from '../chain/chainReader.ts';
import type { AskBounds, AskChain, AskedRequest, ChainAnswer } from './askChain.ts';

/** A node, and the question to it. */
export interface AskedNode {
  readonly ask: (request: AskedRequest, bounds: AskBounds) => Promise<ChainAnswer>;
  readonly head: () => Promise<Pick<BlockHead, 'number' | 'timestamp'>>;
}

/** What is asked, and when a node's newest block is fresh. */
export interface AskNodesPorts {
  /** The first one is asked first; the others bear it out. Each stands for itself alone. */
  readonly nodes: readonly AskedNode[];
  /** Age from which a newest block is stale, in seconds; 0: none is, for blocks come only with transactions. */
  readonly maxHeadAgeSeconds: number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

/** What a node says, and whether its newest block is fresh; undefined where it does not answer. */
interface NodeAnswer {
  readonly answer: ChainAnswer;
  readonly isFresh: boolean;
}

function isFresh({ maxHeadAgeSeconds, now }: AskNodesPorts, { timestamp }: Pick<BlockHead, 'timestamp'>): boolean {
  return maxHeadAgeSeconds === 0 || Number(timestamp) * 1000 >= now() - maxHeadAgeSeconds * 1000;
}

/** Whether an answer ends a request. */
const isFinal = ({ kind }: ChainAnswer): boolean => kind === 'executed' || kind === 'replaced';

/**
 * How deep something is, one node may make up by its newest block: it counts as far as another one that is fresh knows of blocks.
 *
 * @returns undefined where no other one answers that is fresh
 */
async function findSharedHead(ports: AskNodesPorts, node: AskedNode, number: bigint): Promise<bigint | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<bigint | undefined>();
  let highest: bigint | undefined;
  const asked = ports.nodes.map(async (other) => {
    if (other === node) return;
    const head = await withoutAnswer(other.head());
    if (head instanceof ChainError || !isFresh(ports, head)) return;
    if (highest === undefined || head.number > highest) highest = head.number;
    // A silent one is not waited for.
    if (head.number >= number) resolve(number);
  });
  Promise.all(asked).then(() => resolve(highest), reject);
  return await promise;
}

/** The head is read before the answer: what the answer is made from is no older. */
async function askNode(ports: AskNodesPorts, node: AskedNode, question: Question): Promise<NodeAnswer> {
  const { request, knownBlock } = question;
  const head = await node.head();
  const answer = await node.ask(request, { knownBlock });
  const isUpToDate = isFresh(ports, head);
  if (!isUpToDate || !isFinal(answer)) return { answer, isFresh: isUpToDate };
  const headLimit = await findSharedHead(ports, node, head.number);
  const isShared = headLimit === undefined || headLimit >= head.number;
  return { answer: isShared ? answer : await node.ask(request, { knownBlock, headLimit }), isFresh: true };
}

interface Question {
  readonly request: AskedRequest;
  readonly knownBlock: bigint | undefined;
}

function isSame(one: ChainAnswer, other: ChainAnswer): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function withoutAnswer<T>(asked: Promise<T>): Promise<T | ChainError> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ChainError) return error;
    throw error;
  }
}

/**
 * Makes the question what became of a request such that its answer may end the request: it is that of a node whose newest block is
 * fresh, or of two nodes that agree. A node that has fallen behind ends nothing.
 *
 * @param ports - the nodes; asked one after the other, until an answer can be believed
 * @throws ChainError where none answers
 * @see docs/specification.md RELAY-20
 */
export function createAskNodes(ports: AskNodesPorts): AskChain {
  return async function askNodes(request, knownBlock) {
    const stale: ChainAnswer[] = [];
    let fault: ChainError | undefined;
    for (const node of ports.nodes) {
      const said = await withoutAnswer(askNode(ports, node, { request, knownBlock }));
      if (said instanceof ChainError) {
        fault ??= said;
        continue;
      }
      if (said.isFresh || stale.some((answer) => isSame(answer, said.answer))) return said.answer;
      stale.push(said.answer);
    }
    if (stale.length === 0 && fault !== undefined) throw fault;
    return { kind: 'unsettled' };
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
    return heads.filter((other) => !(other instanceof ChainError) && other.number <= head.number).length >= 2;
  };
}
