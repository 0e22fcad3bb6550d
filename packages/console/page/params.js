// @ts-check
/** The meaning of a request's params, and of a revert's reason, for people. */

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

/** @param {string} hex without 0x */
function readText(hex) {
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (two) => Number.parseInt(two, 16));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text !== '' && /^[\t\n\r\P{Cc}]*$/u.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} hex */
function tellBytes(hex) {
  const bytes = (hex.length - 2) / 2;
  const text = bytes <= MAX_TEXT ? readText(hex.slice(2)) : undefined;
  return text === undefined ? `${bytes} bytes` : `${bytes} bytes: “${text}”`;
}

/**
 * Explains a value beside which the raw one stands.
 *
 * @param {string} name @param {unknown} value
 * @returns {string | undefined}
 */
export function explainParam(name, value) {
  if (typeof value !== 'string') return undefined;
  if (AMOUNTS.has(name) && /^\d+$/.test(value)) return tellCredits(value);
  if (name === 'payload' || name === 'payloads') return tellBytes(value);
  const time = new Date(Number(value) * 1000);
  if (TIMES.has(name) && !Number.isNaN(time.getTime()))
    return time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return undefined;
}

/** Rows of a table from params, however deep: an entry of a list is a row of its own. @param {unknown} value @param {string} [path] @returns {[path: string, value: string][]} */
export function flattenParams(value, path = '') {
  if (typeof value !== 'object' || value === null) return [[path, String(value)]];
  return Object.entries(value).flatMap(([name, part]) =>
    flattenParams(part, Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`),
  );
}

/** Of `Error(string)` and `Panic(uint256)`, which Solidity itself throws. */
const [ERROR_STRING, PANIC] = ['08c379a0', '4e487b71'];
/** @see https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const PANICS = new Map([
  [0x01, 'an assertion failed'],
  [0x11, 'an amount went out of its range'],
  [0x12, 'a division by zero'],
  [0x21, 'a value that its enum does not have'],
  [0x31, 'nothing to take from an empty list'],
  [0x32, 'an index beyond the end of a list'],
  [0x41, 'too much memory'],
  [0x51, 'a function that was never set'],
]);

/**
 * Decodes what a contract answered, where an error message holds it as bytes.
 *
 * @param {string} message
 * @returns {string | undefined} undefined: it holds none that can be read
 */
export function decodeRevert(message) {
  const [, hex = ''] = /0x((?:08c379a0|4e487b71)[0-9a-f]+)/i.exec(message) ?? [];
  const data = hex.slice(8);
  if (hex.toLowerCase().startsWith(PANIC)) return PANICS.get(Number.parseInt(data.slice(-8), 16));
  if (!hex.toLowerCase().startsWith(ERROR_STRING)) return undefined;
  const length = Number.parseInt(data.slice(120, 128), 16);
  return readText(data.slice(128, 128 + 2 * length));
}

/**
 * Where a transaction is shown, if anywhere. Whoever posts a request names its chain: a name like `constructor` is none of an object's own.
 *
 * @param {Record<string, string>} explorers @param {string} chainName @param {string} txHash
 * @returns {string | undefined}
 */
export function explorerLink(explorers, chainName, txHash) {
  return new Map(Object.entries(explorers)).get(chainName)?.replace('{hash}', txHash);
}
