/**
 * The fields that settings are made of. Each reads the text of one environment variable and says, when the text is wrong, what was
 * expected and never what was given. A default goes around a field: `z._default(wholeNumber(1, 64), 16)`; so does `z.optional`.
 */
import * as z from 'zod/mini';
import { LOG_LEVELS } from '../logs/createLogger.ts';

/** Largest amount that a contract can hold. */
const MAX_UINT256 = 2n ** 256n - 1n;

/**
 * Makes zod say what was expected, and never the value.
 *
 * @param what - like `a whole number from 1 to 10`
 */
export const expected = (what: string): { readonly error: string } => ({ error: `expected ${what}` });

/** A text of a form, as a value; `parse` sees texts of that form only. */
function parsedText<Value>(form: RegExp, error: { readonly error: string }, parse: (text: string) => Value) {
  return z.pipe(z.string(error).check(z.regex(form, error)), z.transform(parse));
}

/**
 * A whole number.
 *
 * @param min - the least
 * @param max - the most; at most 15 digits are read
 * @returns the field; its value is a number
 */
export function wholeNumber(min: number, max: number) {
  const error = expected(`a whole number from ${min} to ${max}`);
  return z.pipe(parsedText(/^\d{1,15}$/, error, Number), z.number().check(z.gte(min, error), z.lte(max, error)));
}

/** A port to listen on: 0 for any free one. @returns the field; its value is a number, or `off` */
export function portOrOff() {
  const error = expected('a port from 0 to 65535, 0 for any free one, or off');
  const read = (text: string) => (text === 'off' ? text : Number(text));
  return z.pipe(
    parsedText(/^(?:off|\d{1,5})$/, error, read),
    z.union([z.literal('off'), z.number().check(z.lte(65_535, error))], error),
  );
}

/**
 * An amount as people write ether or gwei: `0.05`.
 *
 * @param decimals - how many digits may follow the point
 * @returns the field; its value is a bigint of the smallest unit: 10^decimals are one
 */
export function decimalAmount(decimals: number) {
  const error = expected(`a decimal number with at most ${decimals} digits after the point`);
  return parsedText(new RegExp(`^\\d{1,30}(\\.\\d{1,${decimals}})?$`), error, (text) => {
    const [whole = '', fraction = ''] = text.split('.');
    return BigInt(whole + fraction.padEnd(decimals, '0'));
  });
}

/**
 * An amount in base units, such as `1000000` for one stablecoin of 6 decimals.
 *
 * @returns the field; its value is a bigint that fits a uint256
 */
export function baseUnits() {
  const error = expected('a whole number of base units');
  return z.pipe(parsedText(/^\d{1,78}$/, error, BigInt), z.bigint().check(z.lte(MAX_UINT256, error)));
}

/**
 * Yes or no.
 *
 * @returns the field; its value is a boolean
 */
export function flag() {
  return z.pipe(
    z.enum(['true', 'false'], expected('true or false')),
    z.transform((text) => text === 'true'),
  );
}

/**
 * One of some words.
 *
 * @returns the field; its value is the word
 */
export function oneOf<const Words extends readonly [string, string, ...string[]]>(words: Words) {
  return z.enum(words, expected(`${words.slice(0, -1).join(', ')} or ${words.at(-1)}`));
}

const schemeOf = (text: string) => (URL.canParse(text) ? new URL(text).protocol : undefined);

/** A URL of one of two schemes, like `http:` and `https:`; its value is the text. */
function urlOf(...schemes: readonly [string, string]) {
  const error = expected(`an ${schemes.join(' or ').replaceAll(':', '')} URL`);
  return z.string(error).check(z.refine((text) => schemes.some((scheme) => scheme === schemeOf(text)), error));
}

/**
 * An `http` or `https` URL.
 *
 * @returns the field; its value is the text
 */
export const httpUrl = () => urlOf('http:', 'https:');

/**
 * An `smtp` or `smtps` URL, with user and password in it.
 *
 * @returns the field; its value is the text
 */
export const smtpUrl = () => urlOf('smtp:', 'smtps:');

/**
 * A private key, or the name of one in AWS KMS.
 *
 * @returns the field; its value is 0x and 64 hex digits, or `kms:` and the id, ARN or alias of a key
 */
export function privateKey() {
  const error = expected('0x followed by 64 hex digits, or kms: and the name of a key');
  return z.string(error).check(z.regex(/^(0x[0-9a-fA-F]{64}|kms:[\w:/.-]{1,256})$/, error));
}

/**
 * An address, in any letter case.
 *
 * @returns the field; its value is in lower case
 */
export function address() {
  const error = expected('0x followed by 40 hex digits');
  // The form has seen that it is hex.
  return parsedText(/^0x[0-9a-fA-F]{40}$/, error, (text) => text.toLowerCase() as `0x${string}`);
}

/**
 * Splits a list at its commas. Spaces around an entry do not count, and empty entries are none.
 *
 * @param text - like `a, b`
 */
export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/**
 * Entries with commas between.
 *
 * @returns the field; its value is the list of the entries' values
 */
export function listOf<Entry extends z.ZodMiniType<unknown, string>>(entry: Entry) {
  return z.pipe(
    z.pipe(
      z.string(),
      z.transform((text) => [...splitList(text)]),
    ),
    z.array(entry),
  );
}

/**
 * The least level that the log writes.
 *
 * @returns the field; its value is a `LogLevel`
 */
export const logLevel = () => oneOf(LOG_LEVELS);
