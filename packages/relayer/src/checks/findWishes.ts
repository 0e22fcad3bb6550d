import type { RelayedRecord, SignedWish } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { findNonce, listSignedParts } from './findNonce.ts';

/**
 * Finds what identifies a request's signatures on the chain.
 *
 * @returns one a signature, in the order of the entries; undefined where the node did not say a signer's nonce
 * @throws ChainError
 */
export async function findWishes(
  { chain, chainId, recoverSigner }: Pick<Relay, 'chain' | 'chainId' | 'recoverSigner'>,
  record: RelayedRecord,
): Promise<readonly SignedWish[] | undefined> {
  const { forwarder } = chain;
  const parts = listSignedParts(record);
  const nonces = await chain.nonces(parts.map(({ signer }) => signer));
  const wishes: SignedWish[] = [];
  for (const part of parts) {
    const { signer, r, s } = part;
    const current = nonces.get(signer);
    if (current === undefined) return undefined;
    wishes.push({ signer, r, s, nonce: await findNonce({ part, current, chainId, forwarder, recoverSigner }) });
  }
  return wishes;
}
