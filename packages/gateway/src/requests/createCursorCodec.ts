import { createHmac, timingSafeEqual } from 'node:crypto';
import { InvalidCursorError } from '../ports/errors.ts';

/** The list that a cursor belongs to: requests, the feed of a chain, or another list by its name and filters. */
type Scope =
  | {
      readonly filter: Readonly<Record<string, string | number | undefined>>;
      readonly order: 'asc' | 'desc';
    }
  | { readonly feedOf: string }
  | { readonly list: readonly (string | undefined)[] };

/** Bytes of the tag that a cursor begins with. */
const TAG_BYTES = 12;

export interface CursorCodec {
  /** Writes a store's position as the wire's `lastKey`. */
  seal(position: string, scope: Scope): string;
  /** Reads it back. @throws InvalidCursorError when it was altered or belongs to another list */
  open(lastKey: string, scope: Scope): string;
}

/** Filters whose letter case counts. */
const EXACT = ['chainName'];

/** A list's filters and order as one text; letter case does not distinguish addresses and hashes. */
function scopeText(scope: Scope): string {
  if ('feedOf' in scope) return JSON.stringify(['feed', scope.feedOf]);
  if ('list' in scope) return JSON.stringify(['list', ...scope.list.map((part) => part?.toLowerCase() ?? null)]);
  const { filter, order } = scope;
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const parts = given.map(([name, value]) => [name, EXACT.includes(name) ? value : `${value}`.toLowerCase()].join('='));
  return JSON.stringify([...parts.sort(), order]);
}

/**
 * Makes the codec of cursors: base64url of a tag and the position. The tag is an HMAC over position, filters and order.
 *
 * @param key - secret shared by all processes of a deployment
 */
export function createCursorCodec(key: Uint8Array): CursorCodec {
  const tagOf = (position: string, scope: Scope) =>
    createHmac('sha256', key)
      .update(`${scopeText(scope)}\n${position}`)
      .digest()
      .subarray(0, TAG_BYTES);
  return {
    seal: (position, scope) => Buffer.concat([tagOf(position, scope), Buffer.from(position)]).toString('base64url'),
    open(lastKey, scope) {
      const bytes = Buffer.from(lastKey, 'base64url');
      const position = bytes.subarray(TAG_BYTES).toString('utf8');
      const tag = bytes.subarray(0, TAG_BYTES);
      const canonical = bytes.toString('base64url') === lastKey;
      if (!canonical || tag.length !== TAG_BYTES || !timingSafeEqual(tag, tagOf(position, scope))) {
        throw new InvalidCursorError();
      }
      return position;
    },
  };
}
