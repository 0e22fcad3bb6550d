import { createBackOff } from '@prism-gateway/runtime';
import type { Sent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import { decodeReason, nameReason } from '../chain/decodeReason.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { NonceContext } from '../checks/findNonce.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { AskChain } from './askChain.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { OpenRequest, Outcome } from './openRequest.ts';

/** Pauses while a nonce is used and the node's logs do not show by what, in milliseconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** What a transaction's events are read by. */
export type EventContext = Pick<NonceContext, 'chainId' | 'forwarder'>;

/** What a call reverted with: the ABI-encoded error; undefined where the node did not tell. */
export interface Revert {
  readonly reverted: Hex | undefined;
}

export interface AskUntoldPorts {
  readonly askChain: AskChain;
  readonly chain: Pick<ChainReader, 'replay' | 'simulate'>;
  readonly state: Pick<ChainState, 'seconds' | 'policy'>;
  /** What digests are made for. */
  readonly recovery: EventContext;
  readonly journal: Pick<Journal, 'submission'>;
  readonly notes: Pick<ChainNotes, 'fault'>;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** What became of a request; no outcome: it is to be checked again. */
interface Untold {
  readonly outcome: Outcome | undefined;
  /** Whose loss it is. */
  readonly blame: 'signers' | 'nobody';
}

function isTooEarly(revert: Revert | undefined): boolean {
  return revert !== undefined && nameReason(revert.reverted) === 'RequestNotYetOpen';
}

/**
 * Repeats a reverted call in its block to learn its reason; where the node has forgotten the block's state, it is repeated now.
 *
 * @returns undefined where it would not revert
 * @throws ChainError where the node does not answer
 */
async function findRevert(
  { chain, journal, state }: AskUntoldPorts,
  { intentId }: OpenRequest,
  { blockNumber }: Sent,
): Promise<Revert | undefined> {
  const submission = journal.submission(intentId ?? '');
  if (submission === undefined) return undefined;
  const revert = await chain.replay(submission.data, blockNumber).catch(() => undefined);
  if (revert !== undefined) return revert;
  const simulated = await chain.simulate(submission.data, { seconds: await state.seconds() });
  return 'reverted' in simulated ? simulated : undefined;
}

/** That it came too early is the chain's own doing, however often. Anything else was paid for once, and never is again. */
function conclude(revert: Revert | undefined, { txHash }: Sent): Untold {
  if (isTooEarly(revert)) return { outcome: undefined, blame: 'nobody' };
  const errorMessage =
    revert === undefined ? `transaction ${txHash} was reverted without a reason` : decodeReason(revert.reverted);
  return { outcome: { status: 'failed', errorMessage }, blame: 'signers' };
}

/**
 * Asks the chain what became of a request that no event of its own mined transaction tells of: somebody else's may have carried it out, or
 * there is a reason.
 *
 * @param mined.refusal - what the Forwarder has refused its entry of a batch for
 * @returns undefined where the signal ended the asking
 */
export async function askUntold(
  ports: AskUntoldPorts,
  {
    request,
    sent,
    refusal,
  }: { readonly request: OpenRequest; readonly sent: Sent; readonly refusal: Revert | undefined },
): Promise<Untold | undefined> {
  const { random, signal, askChain } = ports;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  for (;;) {
    try {
      const answer = await askChain(request, sent.blockNumber);
      if (answer.kind === 'executed') return { outcome: { status: 'success', txHash: answer.txHash }, blame: 'nobody' };
      if (answer.kind !== 'unsettled') return conclude(refusal ?? (await findRevert(ports, request, sent)), sent);
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      ports.notes.fault('chain');
    }
    if (!(await backOff.wait())) return undefined;
  }
}
