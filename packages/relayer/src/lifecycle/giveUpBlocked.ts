import { isGatewayError } from '@prism-gateway/sdk';
import { createSignatureTest, listSignedParts } from '../checks/findNonce.ts';
import { carryWait, knownGapState, type NonceGap, ruleOf, type Verdict, type Wait } from '../checks/leaveReasons.ts';
import type { RelayerContext } from './context.ts';

/** Most signatures that one question looks at. */
const MAX_SIGNATURES = 1000;
/**
 * How long a nonce is waited for that was used by what the gateway says, and not by what the chain says, in milliseconds: a reorganisation
 * comes back, and a report that was a lie is found, and the request posted again.
 */
export const DISPUTED_MS = 900_000;

/** Whether an open request may use a forwarder nonce that others wait for. */
type GapQuestion = (gap: NonceGap) => Promise<boolean>;

/** Only a request that was signed for that nonce counts: anybody may queue others in a signer's name. */
async function isAwaited({ chain, gateway, now }: RelayerContext, { signer, nonce }: NonceGap): Promise<boolean> {
  const isDisputed = (updatedAt: string) => now() - Date.parse(updatedAt) < DISPUTED_MS;
  const parts = (await gateway.newestOf(signer))
    .filter(({ status, updatedAt }) => (status === 'success' ? isDisputed(updatedAt) : status !== 'failed'))
    .flatMap(listSignedParts)
    .filter((part) => part.signer === signer)
    .slice(0, MAX_SIGNATURES);
  for (const part of parts) if (await createSignatureTest(chain, part)(nonce)) return true;
  return false;
}

/**
 * Makes the question whether the next request of a signer is open. Its answers are shared: many may wait for the same one.
 *
 * @throws GatewayError if the gateway does not answer
 */
export function createGapQuestion(context: RelayerContext): GapQuestion {
  const answers = new Map<string, Promise<boolean>>();
  return function ask(gap) {
    const key = `${gap.signer}:${gap.nonce}`;
    const answer = answers.get(key) ?? isAwaited(context, gap);
    answers.set(key, answer);
    return answer;
  };
}

/** Whether an open request may use a forwarder nonce; a gateway that does not answer may know one. */
export async function mayBeAwaited(context: RelayerContext, gap: NonceGap): Promise<boolean> {
  try {
    return await createGapQuestion(context)(gap);
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return true;
  }
}

/**
 * After enough patience a request that would revert, or whose turn cannot come, is to be claimed, and reported failed, without
 * sending it.
 *
 * @param found.wait - what was in its way before
 * @param found.verdict - found a moment ago
 * @returns the verdict that it gets: `hopeless` if patience is over, for a turn that cannot come at the second look at the chain
 * @throws GatewayError if the gateway does not answer
 */
export async function giveUpBlocked(
  { now, policy }: RelayerContext,
  { wait, verdict }: { readonly wait: Wait | undefined; readonly verdict: Verdict },
  isGapAwaited: GapQuestion,
): Promise<Verdict> {
  if (verdict.kind !== 'leave' || ruleOf(verdict.reason).finality !== 'fails') return verdict;
  const { gap, signatures = [], errorMessage = 'it would revert' } = verdict;
  const gapState = knownGapState(wait, verdict);
  if (now() - carryWait(wait, { ...verdict, gapState }, now()).sinceMs < policy.giveUpMs) {
    // If the earlier request was open, the wait begins anew once it is open no more.
    const isOpen = gap !== undefined && gapState === undefined && (await isGapAwaited(gap));
    return { ...verdict, gapState: isOpen ? 'awaited' : gapState };
  }
  if (gap !== undefined) {
    if (await isGapAwaited(gap)) return { ...verdict, gapState: 'awaited' };
    // The chain was read before the gateway: what had that nonce may have been mined and reported in between. The next look at the
    // chain shows.
    if (gapState !== 'missing') return { ...verdict, gapState: 'missing' };
  }
  return { kind: 'hopeless', signatures, errorMessage, ...(gap && { gap }), isGivenUp: true };
}
