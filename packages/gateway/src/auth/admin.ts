import { createHash, timingSafeEqual } from 'node:crypto';
import { unauthenticated } from '../http/errors.ts';
import type { HeaderReader } from '../http/request.ts';

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Hex digits of a key's digest by which the audit log tells keys apart. */
const KEY_ID_DIGITS = 12;

/**
 * Makes the check of `X-Admin-Key`: compared over digests in constant time with every valid key.
 *
 * @param keys - the valid keys, one or, during a rotation, two
 * @returns a function that returns the id of the key that was given
 * @throws ApiError ADMIN_KEY_REJECTED from the returned function
 * @see docs/specification.md ADMIN-1
 */
export function createAdminCheck(keys: readonly string[]): (request: { readonly headers: HeaderReader }) => string {
  const digests = keys.map(digestOf);
  return function checkAdmin(request) {
    const given = request.headers.get('x-admin-key');
    if (given === null) throw unauthenticated('ADMIN_KEY_REJECTED', 'The X-Admin-Key header is missing.');
    const digest = digestOf(given);
    let matches = 0;
    for (const known of digests) matches += timingSafeEqual(digest, known) ? 1 : 0;
    if (matches === 0) throw unauthenticated('ADMIN_KEY_REJECTED', 'The X-Admin-Key is wrong.');
    return digest.toString('hex').slice(0, KEY_ID_DIGITS);
  };
}
