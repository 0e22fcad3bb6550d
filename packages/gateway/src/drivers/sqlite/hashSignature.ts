import { type SignedRequest, signatureKeyOf } from '../../ports/signatureKey.ts';

/** Bytes of a key that an index holds: as many as a number holds exactly. What has the same ones is then compared whole. */
const HASH_BYTES = 6;

/** Cuts the key of a signature to what the index holds. @param key - of `createSignatureKey` */
export const hashOfKey = (key: string) => Buffer.from(key, 'base64url').readUIntBE(0, HASH_BYTES);

/** Hashes what tells a record's signature. @returns null for a record without one */
export function hashSignature(request: SignedRequest): number | null {
  const key = signatureKeyOf(request);
  return key === undefined ? null : hashOfKey(key);
}
