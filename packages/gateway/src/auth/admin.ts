import { createHash, timingSafeEqual } from 'node:crypto';
import { unauthenticated } from '../http/errors.ts';
import type { HeaderReader } from '../http/request.ts';

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Hex digits of a key's digest by which the audit log distinguishes keys. */
const KEY_ID_DIGITS = 12;

/** Keys that may be given. */
export interface AdminKeys {
  /** One or, during a rotation, two. */
  readonly adminKeys: readonly string[];
  /** Those that may read and not act. */
  readonly adminReadKeys: readonly string[];
}

/** Who an administrator is. */
export interface Administrator {
  /** The id of the key that was given. */
  readonly keyId: string;
  readonly mayAct: boolean;
}

/** Identifies an administrator by `X-Admin-Key`. @throws ApiError ADMIN_KEY_REJECTED */
export type CheckAdmin = (request: { readonly headers: HeaderReader }) => Administrator;

/**
 * Makes the check of `X-Admin-Key`: compared over digests in constant time with every valid key.
 *
 * @throws ApiError ADMIN_KEY_REJECTED from the returned function
 * @see docs/specification.md ADMIN-1
 */
export function createAdminCheck({ adminKeys, adminReadKeys }: AdminKeys): CheckAdmin {
  const [actors, readers] = [adminKeys.map(digestOf), adminReadKeys.map(digestOf)];
  return function checkAdmin(request) {
    const given = request.headers.get('x-admin-key');
    if (given === null) throw unauthenticated('ADMIN_KEY_REJECTED', 'The X-Admin-Key header is missing.');
    const digest = digestOf(given);
    const count = (known: readonly Buffer[]) =>
      known.reduce((matches, one) => matches + (timingSafeEqual(digest, one) ? 1 : 0), 0);
    const [acting, reading] = [count(actors), count(readers)];
    if (acting + reading === 0) throw unauthenticated('ADMIN_KEY_REJECTED', 'The X-Admin-Key is wrong.');
    return { keyId: digest.toString('hex').slice(0, KEY_ID_DIGITS), mayAct: acting > 0 };
  };
}
