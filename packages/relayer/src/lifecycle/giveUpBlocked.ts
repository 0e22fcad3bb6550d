import { isGatewayError } from '@prism-gateway/sdk';
import { createSignatureTest, listSignedParts } from '../checks/findNonce.ts';
import {
  carryWait,
  knownGapState,
  type NonceGap,
  nameGap,
  parseGap,
  ruleOf,
  type Verdict,
  type Wait,
} from '../checks/leaveReasons.ts';
import type { RelayerContext } from './context.ts';

/** Most signatures that one question looks at. */
const MAX_SIGNATURES = 1000;
/**
 * How long a nonce is waited for that was used by what the gateway says, and not by what the chain says, in milliseconds: a reorganisation
 * comes back, and a report that was a lie is found, and the request posted again.
 */
export const DISPUTED_MS = 900_000;
/** Most nonces that are followed from a request to those that it waits for: a longer chain is waited for. */
const MAX_GAPS = 8;

/** Whether an open request may use a forwarder nonce that others wait for, once its own turn has come. */
type GapQuestion = (gap: NonceGap) => Promise<boolean>;

/**
 * The nonces that the open requests which were signed for a nonce wait for in turn: anybody may queue others in a signer's name.
 *
 * @returns as `nameGap` writes them; undefined if one of them waits for none
 */
async function findWaits(context: RelayerContext, { signer, nonce }: NonceGap): Promise<readonly string[] | undefined> {
  const { chain, gateway, journal, now } = context;
  const isDisputed = (updatedAt: string) => now() - Date.parse(updatedAt) < DISPUTED_MS;
  const parts = (await gateway.newestOf(signer))
    .filter(({ status, updatedAt }) => (status === 'success' ? isDisputed(updatedAt) : status !== 'failed'))
    .flatMap((record) => listSignedParts(record).map((part) => ({ part, requestId: record.requestId })))
    .filter(({ part }) => part.signer === signer)
    .slice(0, MAX_SIGNATURES);
  const waits: string[] = [];
  for (const { part, requestId } of parts) {
    if (!(await createSignatureTest(chain, part)(nonce))) continue;
    const gap = journal.wait(requestId)?.gap ?? undefined;
    if (gap === undefined) return undefined;
    waits.push(gap);
  }
  return waits;
}

/**
 * Makes the question whether the next request of a signer is open, and can come to its turn: batches of many users that have nonces that each
 * other wait for never do. Its answers are shared: many may wait for the same one.
 *
 * @throws GatewayError if the gateway does not answer
 */
export function createGapQuestion(context: RelayerContext): GapQuestion {
  const answers = new Map<string, ReturnType<typeof findWaits>>();
  function ask(name: string, gap: NonceGap) {
    const answer = answers.get(name) ?? findWaits(context, gap);
    answers.set(name, answer);
    return answer;
  }
  return async function isAwaited(gap) {
    const gaps = new Map([[nameGap(gap), gap]]);
    // What is added on the way is walked, too.
    for (const [name, next] of gaps) {
      const waits = gaps.size > MAX_GAPS ? undefined : await ask(name, next);
      if (waits === undefined) return true;
      // Who waits for a nonce that nobody has is given up first.
      if (waits.length === 0) return next !== gap;
      for (const each of waits) gaps.set(each, parseGap(each));
    }
    return false;
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
