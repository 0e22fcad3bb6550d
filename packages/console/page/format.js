// @ts-check
/** How times, amounts and ids are written: the same words in every view. */

const UNITS = /** @type {const} */ ([
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]);

/** Writes a duration, like `850 ms`, `4.2 s` or `3 h`. @param {number} ms */
export function writeDuration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const [unitMs, unit] = UNITS.find(([size]) => ms >= 2 * size) ?? [1000, 's'];
  return `${Math.round(ms / unitMs)} ${unit}`;
}

/** Writes how long ago something was. @param {string | number} time ISO 8601, or milliseconds @param {number} [now] */
export function writeAgo(time, now = Date.now()) {
  const ms = now - new Date(time).getTime();
  return ms < 1000 ? 'just now' : `${writeDuration(Math.floor(ms / 1000) * 1000)} ago`.replace('.0 s', ' s');
}

/** Writes a time exactly, in the viewer's zone. @param {string | number} time */
export const writeExact = (time) =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** The viewer's time zone, as charts say it. */
export const zoneOf = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Shortens an id or an address, and leaves what is short. @param {string} text */
export function shorten(text) {
  if (/^0x[0-9a-f]{40,}$/i.test(text)) return `${text.slice(0, 6)}…${text.slice(-4)}`;
  // The end of a UUID of version 7 distinguishes more than its begin, which is a time.
  if (/^[0-9a-f]{8}-/i.test(text) && text.length === 36) return `${text.slice(0, 8)}…${text.slice(-6)}`;
  return text.length > 28 ? `${text.slice(0, 16)}…${text.slice(-8)}` : text;
}

/** @param {number} count */
export const writeCount = (count) => count.toLocaleString('en-US');

/** @param {number} share 0 to 1 */
export const writePercent = (share) =>
  `${(100 * share).toFixed(share > 0.995 && share < 1 ? 2 : share === 1 ? 0 : 1)} %`;

/** Writes an amount with few digits. @param {string | number} amount a number, with commas or not */
export function writeAmount(amount) {
  const value = readAmount(amount);
  if (value !== 0 && Math.abs(value) < 0.001) return value.toPrecision(2);
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 10 ? 4 : 2 });
}

/** @param {string | number} amount */
export const readAmount = (amount) => Number(String(amount).replaceAll(',', ''));

/** A sentence with its full stop. @param {string} text */
export const sentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);
