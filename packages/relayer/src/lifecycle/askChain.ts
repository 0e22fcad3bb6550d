import type { BlockHead, ChainReader } from '../chain/chainReader.ts';
import type { FindExecution } from '../chain/findExecution.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { listSignedParts } from '../checks/findNonce.ts';
import { executionMatchesRequest } from './executionMatchesRequest.ts';
import type { OpenRequest, SignatureRef } from './openRequest.ts';

/** What the chain says of a request. */
export type ChainAnswer =
  /** Nothing of it is on the chain, and its nonce is not used. */
  | { readonly kind: 'open' }
  /** A transaction has carried it out, deep enough. */
  | { readonly kind: 'executed'; readonly txHash: `0x${string}` }
  /** Its forwarder nonce was used by another request of the signer, deep enough. */
  | { readonly kind: 'replaced'; readonly nonce: bigint; readonly txHash: `0x${string}` }
  /** Its nonce is used, but by a transaction that is not deep enough yet, or that the node's logs do not show yet. */
  | { readonly kind: 'unsettled' };

/** What the question goes through. */
export interface AskPorts {
  readonly chain: Pick<ChainReader, 'nonces' | 'head' | 'calldata' | 'events'>;
  readonly state: Pick<ChainState, 'policy'>;
  readonly findExecution: FindExecution;
  /** Blocks that settle a transaction, the including one counted. */
  readonly confirmations: number;
}

/** A request as the chain is asked for it. */
export type AskedRequest = Pick<OpenRequest, 'signatures' | 'record'>;

/** Asks what became of a request. @param knownBlock - a block that the node must have to be believed; default any */
export type AskChain = (request: AskedRequest, knownBlock?: bigint) => Promise<ChainAnswer>;

/** How far the maximal age may have been shortened since a request was carried out, in seconds: a week. */
const SHORTENED_BY = 604_800n;

/** When the Forwarder could have taken a signature, in Unix seconds. */
async function findWindow({ state }: AskPorts, { record }: AskedRequest, { r, s }: SignatureRef) {
  const { maxAge } = await state.policy();
  const part = listSignedParts(record).find((each) => each.r === r && each.s === s);
  // References are read from the record's parts.
  const since = BigInt(part?.params.timestamp ?? 0);
  return { since, until: since + maxAge + SHORTENED_BY };
}

interface AskedSignature {
  readonly signature: SignatureRef;
  /** The signer's forwarder nonce on the chain; undefined where the node did not say. */
  readonly current: bigint | undefined;
  readonly head: BlockHead;
}

/** A contract wallet's, or one whose nonce is far behind: what the signer had carried out is gone through. */
async function askWithoutNonce(ports: AskPorts, asked: AskedRequest, { signature, head }: AskedSignature) {
  return await ports.findExecution({
    signer: signature.signer,
    head,
    ...(await findWindow(ports, asked, signature)),
    isWanted: (execution) => executionMatchesRequest(ports.chain, signature, execution),
  });
}

async function askForSignature(ports: AskPorts, asked: AskedRequest, question: AskedSignature): Promise<ChainAnswer> {
  const { signature, current, head } = question;
  const { signer, nonce } = signature;
  if (current === undefined) return { kind: 'unsettled' };
  if (current <= (nonce ?? 0n)) return { kind: 'open' };
  const execution =
    nonce === undefined
      ? await askWithoutNonce(ports, asked, question)
      : await ports.findExecution({ signer, nonce, head });
  if (execution === undefined) return { kind: nonce === undefined ? 'open' : 'unsettled' };
  const { txHash, blockNumber } = execution;
  if (blockNumber + BigInt(ports.confirmations) - 1n > head.number) return { kind: 'unsettled' };
  if (nonce === undefined || (await executionMatchesRequest(ports.chain, signature, execution))) {
    return { kind: 'executed', txHash };
  }
  return { kind: 'replaced', nonce, txHash };
}

/**
 * Asks the chain what became of a request, whoever may have submitted it. A batch of many users counts as executed when any of
 * its entries is.
 *
 * @param ports - the chain, and how deep is deep enough
 * @param asked.request - with the nonces it was signed for, as far as these are known
 * @param asked.knownBlock - a block that the node must have to be believed; default any
 * @throws ChainError where the node does not answer
 * @see docs/specification.md RELAY-5
 */
export async function askChain(
  ports: AskPorts,
  { request, knownBlock = 0n }: { readonly request: AskedRequest; readonly knownBlock?: bigint | undefined },
): Promise<ChainAnswer> {
  const { signatures } = request;
  const nonces = await ports.chain.nonces(signatures.map(({ signer }) => signer));
  // Not the cached head: it may be older than the execution.
  const head = await ports.chain.head();
  if (head.number < knownBlock) return { kind: 'unsettled' };
  const answers = await Promise.all(
    signatures.map((signature) =>
      askForSignature(ports, request, { signature, current: nonces.get(signature.signer), head }),
    ),
  );
  const first = (kind: ChainAnswer['kind']) => answers.find((answer) => answer.kind === kind);
  return first('unsettled') ?? first('executed') ?? first('open') ?? first('replaced') ?? { kind: 'open' };
}
