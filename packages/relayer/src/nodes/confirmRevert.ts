import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { Hex } from 'viem';
import { nextBlock } from '../chain/chainReader.ts';
import { decodeReason, nameReason, readInvalidSignature } from '../chain/decodeReason.ts';
import { checkTurn, checkUsed, readNothingDone } from '../checks/checkRequest.ts';
import { mostGas, transactionTerms } from '../checks/fee.ts';
import type { NonceGap } from '../checks/leaveReasons.ts';
import type { RelayerContext, RelayNode } from '../lifecycle/context.ts';
import { mayBeAwaited } from '../lifecycle/giveUpBlocked.ts';
import type { OpenRequest, SignatureRef } from '../lifecycle/states.ts';
import { askNodes, MAJORITY } from './askNodes.ts';
import { isFresh, isUpToDate } from './findOutcome.ts';

/** A request that may not be carried out. */
interface BlockedRequest extends OpenRequest {
  /** The forwarder nonce that was waited for beyond all patience. */
  readonly missing?: NonceGap | undefined;
}

/** `awaited`: by some node its turn may still come. `disputed`: the nodes do not say together that it would be refused. */
type RevertAnswer = 'confirmed' | 'awaited' | 'disputed';

/** A node's verdict on a request. */
interface Vote {
  readonly isFresh: boolean;
  /** Why it would not be carried out; undefined: it would be. */
  readonly refusal: string | undefined;
  /** The forwarder nonce that the signer would have to use now, if that is why. */
  readonly gap?: NonceGap;
}

/**
 * Finds why a request that a node would carry out is not in its turn. Of a batch that may be one entry; and an account with code may say yes
 * to what its key has signed for another nonce.
 */
async function findOutOfOrder(
  { reader }: RelayNode,
  { signatures }: OpenRequest,
): Promise<Pick<Vote, 'refusal' | 'gap'>> {
  const nonces = await reader.nonces(signatures.map(({ signer }) => signer));
  if (signatures.some(({ signer }) => !nonces.has(signer))) return { refusal: undefined };
  if (checkUsed({ signatures, nonces }) !== undefined) return { refusal: 'that its forwarder nonce is used' };
  const ahead = checkTurn({ signatures, nonces });
  if (ahead === undefined) return { refusal: undefined };
  const { errorMessage, gap } = ahead;
  return { refusal: `that it is ${errorMessage}`, ...(gap && { gap }) };
}

async function askNode(context: RelayerContext, node: RelayNode, request: OpenRequest): Promise<Vote> {
  const { reader } = node;
  const { record, gas } = request;
  const { chain, policy } = context;
  // A wallet can distinguish a transaction from a call that pays nothing.
  const priced = gas === undefined ? undefined : { gas, head: await reader.head(), ceiling: policy.maxFeePerGas };
  const head = priced?.head ?? (await reader.block());
  const block = nextBlock(head, await chain.state.seconds());
  const terms = priced && transactionTerms(priced);
  const simulated = readNothingDone(record, await reader.simulate(encodeForwarderCall(record).data, block, terms));
  const vote = { isFresh: isFresh(context, head) };
  if (!('reverted' in simulated)) {
    if (simulated.gas > mostGas(head)) return { ...vote, refusal: `that it needs ${simulated.gas} gas` };
    return { ...vote, ...(await findOutOfOrder(node, request)) };
  }
  const { reverted } = simulated;
  // That it comes too early ends nothing.
  if (nameReason(reverted) === 'RequestNotYetOpen') return { ...vote, refusal: undefined };
  const refused = readInvalidSignature(reverted);
  const gap = refused && { signer: refused.signer.toLowerCase() as Hex, nonce: refused.nonce };
  return { ...vote, refusal: `that it would revert: ${decodeReason(reverted)}`, ...(gap && { gap }) };
}

/**
 * Whether some node says that an earlier nonce comes first, which an open request has: another node may have been wrong about the nonce. One
 * that was waited for beyond all patience is not asked for again: whoever posts it now, to have the claim held idle, comes too late.
 */
async function mayComeLater(
  context: RelayerContext,
  { signatures, missing }: BlockedRequest,
  votes: readonly Vote[],
): Promise<boolean> {
  const isMissing = (gap: NonceGap) => gap.signer === missing?.signer && gap.nonce === missing.nonce;
  for (const { gap } of votes) {
    const isAhead = ({ signer, nonce = 0n }: SignatureRef) => signer === gap?.signer && nonce > gap.nonce;
    if (gap === undefined || isMissing(gap) || !signatures.some(isAhead)) continue;
    if (await mayBeAwaited(context, gap)) return true;
  }
  return false;
}

/**
 * Asks whether a request that looks as if it would be refused may be reported failed for that, each node by a simulation of its own. Of
 * several nodes two have to say so, more than say otherwise, or the only one that answers with a fresh newest block; and by none of them its
 * turn may still come. One that is alone with it is not asked any more for a minute, so that the request goes on; while they do not agree,
 * nothing ends, and the health says which says what.
 *
 * @throws ChainError if no node answers
 * @see docs/specification.md RELAY-20
 */
export async function confirmRevert(context: RelayerContext, request: BlockedRequest): Promise<RevertAnswer> {
  const { chain, events } = context;
  if (chain.nodes.length < MAJORITY) return (await isUpToDate(context)) ? 'confirmed' : 'disputed';
  const { requestId } = request;
  const { agreed, votes, fault } = await askNodes(chain.nodes, {
    ask: (node) => askNode(context, node, request),
    describe: ({ refusal }) => (refusal === undefined ? 'well' : 'refused'),
    isFresh: (vote) => vote.isFresh,
    subject: `the outcome of request ${requestId}`,
    says: ({ refusal = 'that it would be carried out' }) => refusal,
    events,
  });
  if (votes.length === 0 && fault !== undefined) throw fault;
  if (agreed === undefined) return 'disputed';
  if (agreed.refusal !== undefined) {
    const fresh = votes.map(({ vote }) => vote).filter((vote) => vote.isFresh);
    return (await mayComeLater(context, request, fresh)) ? 'awaited' : 'confirmed';
  }
  for (const { node, vote } of votes) {
    if (vote.refusal === undefined) continue;
    const says = `${vote.refusal} (request ${requestId})`;
    events.emit({ type: 'node-outlier', node: chain.nodes.indexOf(node), subject: 'a simulation', says });
  }
  return 'disputed';
}
