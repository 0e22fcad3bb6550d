import { createSignatureTest, listSignedParts, type NonceContext } from '../checks/findNonce.ts';
import type { NonceGap, Verdict } from '../checks/verdict.ts';
import type { RequestGateway } from '../gateway/requestGateway.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { Candidate } from './createCandidates.ts';

/** Most signatures that one question looks at. */
const MAX_SIGNATURES = 1000;

/** Whether an open request may use a forwarder nonce that others wait for. */
type GapQuestion = (gap: NonceGap) => Promise<boolean>;

export interface GapPorts {
  readonly gateway: Pick<RequestGateway, 'newestOf'>;
  readonly recovery: NonceContext;
}

/** Only a request that was signed for that nonce counts: anybody may queue others in a signer's name. */
async function isAwaited({ gateway, recovery }: GapPorts, { signer, nonce }: NonceGap): Promise<boolean> {
  const parts = (await gateway.newestOf(signer))
    .filter(({ status }) => status === 'pending' || status === 'processing')
    .flatMap(listSignedParts)
    .filter((part) => part.signer === signer)
    .slice(0, MAX_SIGNATURES);
  for (const part of parts) if (await createSignatureTest(recovery, part)(nonce)) return true;
  return false;
}

/**
 * Makes the question whether the next request of a signer is open. Its answers are shared: many may wait for the same one.
 *
 * @throws GatewayError where the gateway does not answer
 */
export function createGapQuestion(ports: GapPorts): GapQuestion {
  const answers = new Map<string, Promise<boolean>>();
  return function ask(gap) {
    const key = `${gap.signer}:${gap.nonce}`;
    const answer = answers.get(key) ?? isAwaited(ports, gap);
    answers.set(key, answer);
    return answer;
  };
}

/**
 * After enough patience a request that would revert, or whose turn cannot come, is to be claimed, and reported failed, without
 * sending it.
 *
 * @param candidate - judged a moment ago; patience begins anew for one whose turn can still come
 * @returns the verdict that it gets then, for a turn that cannot come at the second look at the chain; undefined while there is patience left
 * @throws GatewayError where the gateway does not answer
 */
export async function giveUpBlocked(
  { now, policy }: { readonly now: () => number; readonly policy: Pick<RelayPolicy, 'giveUpMs'> },
  candidate: Pick<Candidate, 'verdict' | 'blockedSinceMs' | 'missingNonce'>,
  isGapAwaited: GapQuestion,
): Promise<Verdict | undefined> {
  const { verdict, blockedSinceMs } = candidate;
  if (verdict?.kind !== 'leave' || blockedSinceMs === undefined || verdict.errorMessage === undefined) return undefined;
  if (now() - blockedSinceMs < policy.giveUpMs) return undefined;
  if (verdict.gap !== undefined && (await isGapAwaited(verdict.gap))) {
    candidate.blockedSinceMs = now();
    candidate.missingNonce = undefined;
    return undefined;
  }
  // The chain was read before the gateway: what had that nonce may have been mined and reported in between. The next look at the chain
  // tells.
  if (verdict.gap !== undefined && candidate.missingNonce !== verdict.gap.nonce) {
    candidate.missingNonce = verdict.gap.nonce;
    return undefined;
  }
  return { kind: 'settle', signatures: verdict.signatures ?? [], errorMessage: verdict.errorMessage };
}
