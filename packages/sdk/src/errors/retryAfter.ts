/**
 * Reads a `Retry-After` header: seconds, or a date.
 *
 * @param value - the header, null where there is none
 * @param nowMs - Unix time in milliseconds
 * @returns milliseconds from now, at least 0; undefined where there is none or it cannot be read
 * @see RFC 9110 section 10.2.3
 */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
