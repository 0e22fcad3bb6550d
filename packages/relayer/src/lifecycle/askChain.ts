import type { BlockHead, ChainReader } from '../chain/chainReader.ts';
import type { FindExecution } from '../chain/createFindExecution.ts';
import type { FindInvalidation } from '../chain/createFindInvalidation.ts';
import type { Execution } from '../chain/readExecutions.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { createExecutionTest, listSignedParts, type NonceContext, type SignedPart } from '../checks/findNonce.ts';
import type { OpenRequest, SignatureRef } from './openRequest.ts';

/** What the chain says of a request. */
export type ChainAnswer =
  /** Nothing of it is on the chain, and its nonce is not used. */
  | { readonly kind: 'open' }
  /** A transaction has carried it out, deep enough. */
  | { readonly kind: 'executed'; readonly txHash: `0x${string}` }
  /** Its forwarder nonce was used by another request of the signer, or taken back, deep enough. */
  | { readonly kind: 'replaced'; readonly reason: string }
  /** Its nonce is used, but by a transaction that is not deep enough yet, or that the node's logs do not show yet. */
  | { readonly kind: 'unsettled' };

export interface AskPorts {
  readonly chain: Pick<ChainReader, 'nonces' | 'head'>;
  readonly state: Pick<ChainState, 'policy'>;
  readonly findExecution: FindExecution;
  readonly findInvalidation: FindInvalidation;
  /** What digests are made for. */
  readonly recovery: Pick<NonceContext, 'chainId' | 'forwarder'>;
  /** Blocks that settle a transaction, the including one counted. */
  readonly confirmations: number;
}

/** A request as the chain is asked for it. */
export type AskedRequest = Pick<OpenRequest, 'signatures' | 'record'>;

/** Asks what became of a request. @param knownBlock - a block that the node must have to be believed; default any */
export type AskChain = (request: AskedRequest, knownBlock?: bigint) => Promise<ChainAnswer>;

/** How far the maximal age may have been shortened since a request was carried out, in seconds: a week. */
const SHORTENED_BY = 604_800n;

interface AskedSignature {
  readonly signature: SignatureRef;
  /** What was signed. */
  readonly part: SignedPart;
  /** The signer's forwarder nonce on the chain; undefined where the node did not say. */
  readonly current: bigint | undefined;
  readonly head: BlockHead;
}

/** A contract wallet's, or one whose nonce is far behind: what the signer had carried out since it was signed is gone through. */
async function findAnywhere(ports: AskPorts, { part, head }: AskedSignature): Promise<Execution | undefined> {
  const { maxAge } = await ports.state.policy();
  const since = BigInt(part.params.timestamp);
  return await ports.findExecution({
    ...{ signer: part.signer, head, since, until: since + maxAge + SHORTENED_BY },
    isWanted: createExecutionTest(ports.recovery, part),
  });
}

/** Its nonce is used, and by no execution that the node knows: its signer may have taken it back. */
async function askForInvalidation(ports: AskPorts, used: AskedSignature & { readonly nonce: bigint }) {
  const { nonce, head, part } = used;
  const found = await ports.findInvalidation({ signer: part.signer, nonce, head });
  if (found === undefined || !isDeep(ports, found, head)) return { kind: 'unsettled' } as const;
  return {
    kind: 'replaced',
    reason: `its signer took back forwarder nonce ${nonce}, in ${found.txHash}`,
  } as const;
}

function isDeep({ confirmations }: AskPorts, { blockNumber }: { readonly blockNumber: bigint }, head: BlockHead) {
  return blockNumber + BigInt(confirmations) - 1n <= head.number;
}

async function askForSignature(ports: AskPorts, question: AskedSignature): Promise<ChainAnswer> {
  const { signature, part, current, head } = question;
  const { signer, nonce } = signature;
  if (current === undefined) return { kind: 'unsettled' };
  if (current <= (nonce ?? 0n)) return { kind: 'open' };
  const execution =
    nonce === undefined ? await findAnywhere(ports, question) : await ports.findExecution({ signer, nonce, head });
  if (execution === undefined) {
    return nonce === undefined ? { kind: 'open' } : await askForInvalidation(ports, { ...question, nonce });
  }
  if (!isDeep(ports, execution, head)) return { kind: 'unsettled' };
  const { txHash } = execution;
  if (createExecutionTest(ports.recovery, part)(execution)) return { kind: 'executed', txHash };
  return {
    kind: 'replaced',
    reason: `its forwarder nonce ${execution.nonce} was used by another request, in ${txHash}`,
  };
}

/**
 * Asks the chain what became of a request, whoever may have submitted it. A batch of many users counts as executed when any of
 * its entries is. Which request a transaction has carried out, only the digest in the Forwarder's event tells.
 *
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
  // References are read from the record's parts, in their order.
  const parts = listSignedParts(request.record);
  const answers = await Promise.all(
    signatures.map(async (signature, index): Promise<ChainAnswer> => {
      const part = parts[index];
      if (part === undefined)
        throw new TypeError(`request ${request.record.requestId} has fewer signatures than it had`);
      return await askForSignature(ports, { signature, part, current: nonces.get(signature.signer), head });
    }),
  );
  const first = (kind: ChainAnswer['kind']) => answers.find((answer) => answer.kind === kind);
  return first('unsettled') ?? first('executed') ?? first('open') ?? first('replaced') ?? { kind: 'open' };
}
