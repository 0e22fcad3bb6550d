import { createSignatureTest, listSignedParts } from '../checks/findNonce.ts';
import type { NonceGap } from '../checks/verdict.ts';
import type { Candidate } from '../queue/candidates.ts';
import type { Relay } from '../relay.ts';

/** Most signatures that one question looks at. */
const MAX_SIGNATURES = 1000;

/** Whether an open request may use a forwarder nonce that others wait for. */
export type GapQuestion = (gap: NonceGap) => Promise<boolean>;

type Context = Pick<Relay, 'gateway' | 'settings' | 'chain' | 'chainId' | 'recoverSigner' | 'signal'>;

/** Only a request that was signed for that nonce counts: anybody may queue others in a signer's name. */
async function isAwaited(relay: Context, { signer, nonce }: NonceGap): Promise<boolean> {
  const { gateway, settings, signal, chain, chainId, recoverSigner } = relay;
  const filter = { signer, chainName: settings.chainName, limit: 100, order: 'desc' } as const;
  const { items } = await gateway.list(filter, { signal }).page();
  const parts = items
    .filter(({ status }) => status === 'pending' || status === 'processing')
    .flatMap(listSignedParts)
    .filter((part) => part.signer === signer)
    .slice(0, MAX_SIGNATURES);
  const context = { chainId, forwarder: chain.forwarder, recoverSigner };
  for (const part of parts) if (await createSignatureTest(context, part)(nonce)) return true;
  return false;
}

/**
 * Makes the question whether the next request of a signer is open. Its answers are shared: many may wait for the same one.
 *
 * @param relay - the relayer on this chain
 * @throws GatewayError where the gateway does not answer
 */
export function createGapQuestion(relay: Context): GapQuestion {
  const answers = new Map<string, Promise<boolean>>();
  return function ask(gap) {
    const key = `${gap.signer}:${gap.nonce}`;
    const answer = answers.get(key) ?? isAwaited(relay, gap);
    answers.set(key, answer);
    return answer;
  };
}

/**
 * After enough patience a request that would revert, or whose turn cannot come, is to be claimed, and reported failed, without
 * sending it.
 *
 * @param relay - clock and patience
 * @param candidate - judged a moment ago; its verdict may become `settle`
 * @param isGapAwaited - asked for one whose turn has not come
 * @throws GatewayError where the gateway does not answer
 */
export async function losePatience(
  { now, policy }: Pick<Relay, 'now' | 'policy'>,
  candidate: Candidate,
  isGapAwaited: GapQuestion,
): Promise<void> {
  const { verdict, blockedSinceMs } = candidate;
  if (verdict?.kind !== 'leave' || blockedSinceMs === undefined || verdict.errorMessage === undefined) return;
  if (now() - blockedSinceMs < policy.giveUpMs) return;
  if (verdict.gap !== undefined && (await isGapAwaited(verdict.gap))) {
    candidate.blockedSinceMs = now();
    return;
  }
  candidate.verdict = { kind: 'settle', wishes: verdict.wishes ?? [], errorMessage: verdict.errorMessage };
}
