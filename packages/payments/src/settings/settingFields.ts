import { type Address, getAddress, isAddress, parseUnits } from 'viem';
import * as z from 'zod/mini';

const expected = (what: string) => ({ error: `expected ${what}` });

/** Largest amount that a contract can hold. */
const MAX_UINT256 = 2n ** 256n - 1n;

/**
 * A whole number within limits.
 *
 * @param range - least, most and what stands when the setting is absent
 * @returns the schema of its text
 */
export function wholeNumber(range: { readonly min: number; readonly max: number; readonly fallback: number }) {
  const error = expected(`a whole number from ${range.min} to ${range.max}`);
  return z.pipe(
    z._default(z.string(), String(range.fallback)),
    z.pipe(
      z.string().check(z.regex(/^\d{1,15}$/, error)),
      z.pipe(
        z.transform((text: string) => Number(text)),
        z.number().check(z.gte(range.min, error), z.lte(range.max, error)),
      ),
    ),
  );
}

/**
 * An amount with a decimal point, as people write ether or gwei; parsed to its smallest unit.
 *
 * @param unit - how many digits it may have after the point, and what stands when the setting is absent
 * @returns the schema of its text
 */
export function decimalAmount(unit: { readonly decimals: number; readonly fallback: string }) {
  const error = expected(`a decimal number with at most ${unit.decimals} digits after the point`);
  const pattern = new RegExp(`^\\d{1,30}(\\.\\d{1,${unit.decimals}})?$`);
  return z.pipe(
    z._default(z.string(), unit.fallback),
    z.pipe(
      z.string().check(z.regex(pattern, error)),
      z.transform((text: string) => (pattern.test(text) ? parseUnits(text, unit.decimals) : 0n)),
    ),
  );
}

/**
 * An amount in base units.
 *
 * @param fallback - what stands when the setting is absent
 * @returns the schema of its text
 */
export function baseUnits(fallback: bigint) {
  const error = expected('a whole number of base units');
  return z.pipe(
    z._default(z.string(), String(fallback)),
    z.pipe(
      z.string().check(z.regex(/^\d{1,78}$/, error)),
      z.pipe(
        z.transform((text: string) => (/^\d{1,78}$/.test(text) ? BigInt(text) : 0n)),
        z.bigint().check(z.lte(MAX_UINT256, error)),
      ),
    ),
  );
}

/**
 * One of some words.
 *
 * @param words - what is allowed; the first stands when the setting is absent
 * @returns the schema of its text
 */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z._default(z.enum(words, expected(words.join(', '))), words[0] as Words[number]);
}

/** An http or https URL. */
export const httpUrl = z
  .string()
  .check(
    z.refine(
      (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      expected('an http or https URL'),
    ),
  );

/** An smtp or smtps URL, user and password in it. */
export const smtpUrl = z
  .string()
  .check(
    z.refine(
      (text: string) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol),
      expected('an smtp or smtps URL'),
    ),
  );

/** A private key. */
export const privateKey = z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/, expected('0x and 64 hex digits')));

/** An address; mixed case must be its checksum. */
export const address = z.pipe(
  z.string().check(z.refine((text: string) => isAddress(text), expected('an address with its checksum'))),
  z.transform((text: string): Address => (isAddress(text) ? getAddress(text) : '0x')),
);

/** Addresses with commas between. */
export const addressList = z.pipe(
  z._default(z.string(), ''),
  z.pipe(
    z.transform((text: string) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    ),
    z.array(address),
  ),
);
