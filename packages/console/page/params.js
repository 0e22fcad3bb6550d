// @ts-check
/** What the params of a request mean, for people. */

const CREDIT_DIGITS = 18;
const AMOUNTS = new Set(['relayerFee', 'fundAmount', 'relayerFundAmount']);
const TIMES = new Set(['timestamp', 'deadline']);
/** Bytes of a payload that are shown as text. */
const MAX_TEXT = 200;

/** @param {string} units decimal digits */
function tellCredits(units) {
  const digits = units.padStart(CREDIT_DIGITS + 1, '0');
  const part = digits.slice(-CREDIT_DIGITS).replace(/0+$/, '');
  return `${digits.slice(0, -CREDIT_DIGITS)}${part === '' ? '' : `.${part}`} credits`;
}

/** @param {string} hex */
function tellBytes(hex) {
  const bytes = (hex.length - 2) / 2;
  const shown = Uint8Array.from(hex.slice(2, 2 + 2 * MAX_TEXT).match(/../g) ?? [], (two) => Number.parseInt(two, 16));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(shown);
    if (bytes > 0 && bytes <= MAX_TEXT && /^[\t\n\r\P{Cc}]*$/u.test(text)) return `${bytes} bytes: “${text}”`;
  } catch {
    // No text.
  }
  return `${bytes} bytes`;
}

/**
 * Explains a value beside which the raw one stands.
 *
 * @param {string} name @param {unknown} value
 * @returns {string | undefined}
 */
export function explainParam(name, value) {
  if (typeof value !== 'string') return Array.isArray(value) ? `${value.length} entries` : undefined;
  if (AMOUNTS.has(name)) return tellCredits(value);
  if (name === 'payload') return tellBytes(value);
  const time = new Date(Number(value) * 1000);
  if (TIMES.has(name) && !Number.isNaN(time.getTime())) return time.toISOString().replace('.000', '');
  return undefined;
}
