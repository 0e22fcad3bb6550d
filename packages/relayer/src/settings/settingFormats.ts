import * as z from 'zod/mini';

/** Makes zod say what was expected, and never the value. */
export const expected = (what: string) => ({ error: `expected ${what}` });

/** A whole number as text, within bounds. */
export function wholeNumberFormat(min: number, max: number) {
  const error = expected(`a whole number from ${min} to ${max}`);
  return z.pipe(
    z.string(error).check(z.regex(/^\d{1,15}$/, error)),
    z.pipe(
      z.transform((text: string) => Number(text)),
      z.number().check(z.gte(min, error), z.lte(max, error)),
    ),
  );
}

const decimalError = expected('a positive decimal number, with at most 18 digits after the point');

/** A positive decimal number as text, read as 18-decimal fixed point: "0.5" is 5 × 10^17. */
export const fixedPointFormat = z.pipe(
  z.string(decimalError).check(
    z.regex(/^\d{1,30}(?:\.\d{1,18})?$/, decimalError),
    z.refine((text) => /[1-9]/.test(text), decimalError),
  ),
  z.transform((text) => {
    const [whole = '', fraction = ''] = text.split('.');
    return BigInt(whole + fraction.padEnd(18, '0'));
  }),
);

const isHttpUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
const urlError = expected('an http or https URL');

/** An `http` or `https` URL. */
export const httpUrlFormat = z.string(urlError).check(z.refine(isHttpUrl, urlError));

const addressError = expected('0x followed by 40 hex digits');

/** An address in any letter case, read in lower case. */
export const addressFormat = z.pipe(
  z.string(addressError).check(z.regex(/^0x[0-9a-fA-F]{40}$/, addressError)),
  // The pattern has seen that it is hex of that length.
  z.transform((text) => text.toLowerCase() as `0x${string}`),
);

const chainNameError = expected('1 to 64 of letters, digits and ". _ : -", beginning with a letter or digit');

/** The gateway's name of a chain. */
export const chainNameFormat = z
  .string(chainNameError)
  .check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, chainNameError));

/** Splits a list at its commas; spaces around an entry do not count. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
