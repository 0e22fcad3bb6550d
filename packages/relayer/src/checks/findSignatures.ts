import type { ChainReader } from '../chain/chainReader.ts';
import type { RelayedRecord, SignatureRef } from '../lifecycle/openRequest.ts';
import { findNonce, listSignedParts, type NonceContext } from './findNonce.ts';

/** @see findSignatures */
export type FindSignatures = (record: RelayedRecord) => Promise<readonly SignatureRef[] | undefined>;

/**
 * Finds what identifies a request's signatures on the chain.
 *
 * @returns one a signature, in the order of the entries; undefined where the node did not say a signer's nonce
 * @throws ChainError
 */
export async function findSignatures(
  { chain, recovery }: { readonly chain: Pick<ChainReader, 'nonces'>; readonly recovery: NonceContext },
  record: RelayedRecord,
): Promise<readonly SignatureRef[] | undefined> {
  const parts = listSignedParts(record);
  const nonces = await chain.nonces(parts.map(({ signer }) => signer));
  const signatures: SignatureRef[] = [];
  for (const part of parts) {
    const { signer, r, s } = part;
    const current = nonces.get(signer);
    if (current === undefined) return undefined;
    signatures.push({ signer, r, s, nonce: await findNonce({ part, current, ...recovery }) });
  }
  return signatures;
}
