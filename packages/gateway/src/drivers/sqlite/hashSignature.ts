import { createSignatureKey, type SignatureFacts } from '../../ports/signatureKey.ts';

/** Bytes of a key that an index holds: as many as a number holds exactly. What has the same ones is then compared whole. */
const HASH_BYTES = 6;

/** Cuts the key of a signature to what the index holds. @param key - of `createSignatureKey` */
export const hashOfKey = (key: string) => Buffer.from(key, 'base64url').readUIntBE(0, HASH_BYTES);

/** Hashes what tells a record's signature. @returns null for a record without one */
export function hashSignature(facts: Partial<SignatureFacts>): number | null {
  const { chainName = '', signer = '', r, s } = facts;
  if (typeof r !== 'string' || typeof s !== 'string') return null;
  return hashOfKey(createSignatureKey({ chainName, signer, r, s }));
}
