import type { Bytes } from '../http/fetchOnce.ts';

/**
 * Names an object by its content.
 *
 * @param object - as it is stored: encrypted
 * @returns `0x` and 64 lower-case hex digits: its SHA-256
 * @see SPEC.md section 4, "POST /storage/sign"
 */
export async function hashObject(object: Bytes): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', object));
  return `0x${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
