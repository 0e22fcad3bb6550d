import { TokenRejectedError } from '../../ports/errors.ts';

/**
 * Reads the user's id from a `sub`.
 *
 * @param sub - as the provider gave it
 * @returns a non-empty string of whole Unicode characters
 * @throws TokenRejectedError when it is anything else
 */
export function readUserId(sub: unknown): string {
  // A lone surrogate is refused because UTF-8 turns each into the same U+FFFD: two users would share one object path.
  if (typeof sub === 'string' && sub !== '' && sub.isWellFormed()) return sub;
  throw new TokenRejectedError('The access token has no usable "sub" claim.');
}
