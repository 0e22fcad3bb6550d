import { deepestBlock, isDeepEnough } from '@prism-gateway/node/rpc';
import { ChainError } from '../chain/chainError.ts';
import type { Block, BlockHead } from '../chain/chainReader.ts';
import type { Execution } from '../chain/readExecutions.ts';
import { createExecutionTest, listSignedParts, type SignedPart } from '../checks/findNonce.ts';
import type { RelayerContext, RelayNode } from '../lifecycle/context.ts';
import type { OpenRequest, RelayedRecord, SignatureRef } from '../lifecycle/states.ts';
import { askNodes, MAJORITY, withoutAnswer } from './askNodes.ts';

/** The chain's state of a request. */
export type ChainAnswer =
  /** Nothing of it is on the chain, and its nonce is not used, or it was too old when it was posted. */
  | { readonly kind: 'open' }
  /** A transaction has carried it out, deep enough. */
  | { readonly kind: 'executed'; readonly txHash: `0x${string}` }
  /** Its forwarder nonce was used by another request of the signer, or taken back, deep enough. */
  | { readonly kind: 'replaced'; readonly reason: string }
  /** Its nonce is used, but by a transaction that is not deep enough yet, or that the node's logs do not show yet. */
  | { readonly kind: 'undecided' };

/** A request as the chain is asked for it, with the nonces it was signed for, as far as these are known. */
type AskedRequest = Pick<OpenRequest, 'signatures' | 'record'>;

/** How far the maximal age may have been shortened since a request was carried out, in seconds: a week. */
const SHORTENED_BY = 604_800n;

interface AskedSignature {
  readonly node: RelayNode;
  readonly signature: SignatureRef;
  /** The signed part. */
  readonly part: SignedPart;
  /** The signer's forwarder nonce on the chain; undefined if the node did not say. */
  readonly current: bigint | undefined;
  readonly head: Block;
}

/** What an execution says of a signature. */
function readExecution(
  { chain, policy }: RelayerContext,
  { part, head }: AskedSignature,
  execution: Execution,
): ChainAnswer {
  if (!isDeepEnough(execution.blockNumber, { head: head.number, ...policy })) return { kind: 'undecided' };
  const { txHash } = execution;
  if (createExecutionTest(chain, part)(execution)) return { kind: 'executed', txHash };
  return {
    kind: 'replaced',
    reason: `its forwarder nonce ${execution.nonce} was used by another request, in ${txHash}`,
  };
}

/** Whether the node's logs show what used the signer's newest nonce, if that was since the request was signed: late ones show nothing. */
async function showsLastUse({ node, part, head, current = 1n }: AskedSignature): Promise<boolean> {
  const { signer, params } = part;
  const nonce = current - 1n;
  const seconds = BigInt(params.timestamp);
  const from = await node.findFirstUse({ signer, nonce, seconds, head, deepest: head.number });
  if (from === 'earlier' || (await node.findExecution({ signer, nonce, from, head })) !== undefined) return true;
  return (await node.findInvalidation({ signer, nonce, from, head })) !== undefined;
}

/** A contract wallet's, a delegated account's, or one whose nonce is far behind: what the signer had carried out since it was signed is gone through. */
async function findAnywhere(context: RelayerContext, question: AskedSignature, until: bigint): Promise<ChainAnswer> {
  const { node, part, head } = question;
  const isWanted = createExecutionTest(context.chain, part);
  const since = BigInt(part.params.timestamp);
  const found = await node.findExecution({ signer: part.signer, head, since, until, isWanted });
  if (found !== undefined) return readExecution(context, question, found);
  return { kind: (await showsLastUse(question)) ? 'open' : 'undecided' };
}

/** Its nonce is used: before it could be, by an execution since, or by its signer, who has taken it back. */
async function findUse(context: RelayerContext, question: AskedSignature, nonce: bigint): Promise<ChainAnswer> {
  const { confirmations } = context.policy;
  const { node, part, head } = question;
  const { signer, params } = part;
  const deepest = deepestBlock(head.number, confirmations);
  const from = await node.findFirstUse({ signer, nonce, seconds: BigInt(params.timestamp), head, deepest });
  if (from === 'earlier')
    return { kind: 'replaced', reason: `its forwarder nonce ${nonce} was used before its timestamp` };
  const execution = await node.findExecution({ signer, nonce, from, head });
  if (execution !== undefined) return readExecution(context, question, execution);
  const found = await node.findInvalidation({ signer, nonce, from, head });
  if (found === undefined || !isDeepEnough(found.blockNumber, { head: head.number, confirmations }))
    return { kind: 'undecided' };
  return { kind: 'replaced', reason: `its signer took back forwarder nonce ${nonce}, in ${found.txHash}` };
}

async function askForSignature(
  context: RelayerContext,
  question: AskedSignature,
  { createdAt }: Pick<RelayedRecord, 'createdAt'>,
): Promise<ChainAnswer> {
  const { node, part, current } = question;
  if (current === undefined) return { kind: 'undecided' };
  if (current === 0n) return { kind: 'open' };
  const { maxAge } = await context.chain.state.policy();
  const until = BigInt(part.params.timestamp) + maxAge + SHORTENED_BY;
  // It was too old already when it was posted: nobody who has it from this queue can have carried it out.
  if (Date.parse(createdAt) / 1000 > Number(until)) return { kind: 'open' };
  // An account with code may take what it has signed for another nonce, as after a reorganisation (EIP-7702).
  const isPlain = question.signature.nonce !== undefined && (await node.reader.code(part.signer)) === '0x';
  const nonce = isPlain ? question.signature.nonce : undefined;
  if (nonce !== undefined && current <= nonce) return { kind: 'open' };
  return nonce === undefined ? await findAnywhere(context, question, until) : await findUse(context, question, nonce);
}

/**
 * Asks one node what became of a request, whoever may have submitted it. A batch of many users counts as executed when any of its entries
 * is. Which request a transaction has carried out, only the digest in the Forwarder's event says.
 *
 * @param asked.head - the node's newest block, a moment ago: what was carried out since is `undecided`
 */
async function askNode(
  context: RelayerContext,
  node: RelayNode,
  { request, head }: { readonly request: AskedRequest; readonly head: Block },
): Promise<ChainAnswer> {
  const { signatures, record } = request;
  const nonces = await node.reader.nonces(signatures.map(({ signer }) => signer));
  // References are read from the record's parts, in their order.
  const parts = listSignedParts(record);
  const answers = await Promise.all(
    signatures.map(async (signature, index): Promise<ChainAnswer> => {
      const part = parts[index];
      if (part === undefined) throw new TypeError(`request ${record.requestId} has fewer signatures than it had`);
      const current = nonces.get(signature.signer);
      return await askForSignature(context, { node, signature, part, current, head }, record);
    }),
  );
  const first = (kind: ChainAnswer['kind']) => answers.find((answer) => answer.kind === kind);
  return first('undecided') ?? first('executed') ?? first('open') ?? first('replaced') ?? { kind: 'open' };
}

/** Whether a newest block is young enough to be believed by itself. */
export function isFresh({ policy, now }: RelayerContext, { timestamp }: Pick<BlockHead, 'timestamp'>): boolean {
  const { maxHeadAgeSeconds } = policy;
  return maxHeadAgeSeconds === 0 || Number(timestamp) * 1000 >= now() - maxHeadAgeSeconds * 1000;
}

/** A node's answer, and whether its newest block is fresh. */
interface NodeAnswer {
  readonly answer: ChainAnswer;
  readonly isFresh: boolean;
  readonly head: bigint;
}

function says({ answer, head }: NodeAnswer): string {
  const { kind } = answer;
  const what = kind === 'executed' ? `executed in ${answer.txHash}` : kind === 'replaced' ? answer.reason : kind;
  return `that it is ${what}, up to its block ${head}`;
}

/**
 * Asks what became of a request such that the answer may end the request. All nodes are asked. What most of those say whose newest block is
 * fresh counts, which are two, or the only one that answers; of stale ones two have to agree. So a node that has fallen behind, or lies
 * about its newest block or what stands in it, ends nothing: while nodes do not agree the answer is `undecided`.
 *
 * @param knownBlock - a block that a node must have to be believed; default any
 * @throws ChainError if none answers
 * @see docs/specification.md RELAY-5, RELAY-20
 */
export async function findOutcome(
  context: RelayerContext,
  request: AskedRequest,
  knownBlock = 0n,
): Promise<ChainAnswer> {
  const { chain, events } = context;
  const { agreed, votes, fault } = await askNodes(chain.nodes, {
    // The head is read before the answer: what the answer is made from is no older.
    async ask(node): Promise<NodeAnswer> {
      const head = await node.reader.block();
      const isBehind = head.number < knownBlock;
      const answer = isBehind ? ({ kind: 'undecided' } as const) : await askNode(context, node, { request, head });
      return { answer, isFresh: isFresh(context, head), head: head.number };
    },
    describe: ({ answer }) => JSON.stringify(answer),
    isFresh: (vote) => vote.isFresh,
    subject: `request ${request.record.requestId}`,
    ...{ says, events },
  });
  if (votes.length === 0 && fault !== undefined) throw fault;
  return agreed?.answer ?? { kind: 'undecided' };
}

/**
 * Whether what is read is up to date, if a check would end a request: the newest block is fresh, or two nodes know none that is newer.
 *
 * @throws ChainError if it cannot be read
 * @see docs/specification.md RELAY-20
 */
export async function isUpToDate(context: RelayerContext): Promise<boolean> {
  const { reader, nodes } = context.chain;
  const head = await reader.block();
  if (isFresh(context, head)) return true;
  const heads = await Promise.all(nodes.map((node) => withoutAnswer(node.reader.block())));
  return heads.filter((other) => !(other instanceof ChainError) && other.number <= head.number).length >= MAJORITY;
}
