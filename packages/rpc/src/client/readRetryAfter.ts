/** The longest that a node is left alone for, whatever it asks, in milliseconds. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Reads how long a server asks to be left alone: seconds, or a date, which is compared with the server's own clock.
 *
 * @param headers - of the answer
 * @returns milliseconds, a minute at most; undefined when it does not say
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}
