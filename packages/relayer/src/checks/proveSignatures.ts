import type { Hex } from 'viem';
import type { ChainReader } from '../chain/chainReader.ts';
import type { CheckCandidate } from './checkRequests.ts';
import { listSignedParts, type NonceContext } from './findNonce.ts';

/** Tells of requests whether the signer's own key has signed them, by request id; those that could not be told are missing. */
export type ProveSignatures = (candidates: readonly CheckCandidate[]) => Promise<ReadonlyMap<string, boolean>>;

/**
 * Tells which requests bear a signature that is proven: of the named signer's own key, with the forwarder nonce that is next. That costs one
 * recovery each, and one question for each signer. Contract wallets' cannot be proven so, nor is a batch of many users' tried.
 *
 * @param candidates - requests; what is found is remembered in their searches
 * @throws ChainError where the node answers nothing at all
 */
export async function proveSignatures(
  { chain, recovery }: { readonly chain: Pick<ChainReader, 'nonces'>; readonly recovery: NonceContext },
  candidates: readonly CheckCandidate[],
): Promise<ReadonlyMap<string, boolean>> {
  const proven = new Map<string, boolean>();
  const single: { readonly candidate: CheckCandidate; readonly signer: Hex }[] = [];
  for (const candidate of candidates) {
    const [part, ...others] = listSignedParts(candidate.record);
    if (part === undefined || others.length > 0) proven.set(candidate.record.requestId, false);
    else single.push({ candidate, signer: part.signer });
  }
  if (single.length === 0) return proven;
  const nonces = await chain.nonces(single.map(({ signer }) => signer));
  for (const { candidate, signer } of single) {
    if (!nonces.has(signer)) continue;
    await candidate.search.tryNext(recovery, nonces);
    const [found] = candidate.search.signatures();
    proven.set(candidate.record.requestId, found?.nonce !== undefined);
  }
  return proven;
}
