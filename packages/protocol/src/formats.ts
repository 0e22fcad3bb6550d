import * as z from 'zod/mini';

/** The largest uint256, the bound of every amount and time on the wire. */
export const UINT256_MAX = 2n ** 256n - 1n;

const uint256MaxText = String(UINT256_MAX);

interface TextFormat {
  readonly pattern: RegExp;
  /** Completes "expected …" in a fault's message. */
  readonly expected: string;
  readonly description: string;
  readonly example: string;
}

/** Says `required` for a missing field and `expected …` for a wrong one; used as a zod `error`. */
export function expecting(expected: string): (issue: { readonly input?: unknown }) => string {
  return (issue) => (issue.input === undefined ? `required: expected ${expected}` : `expected ${expected}`);
}

function textFormat({ pattern, expected, description, example }: TextFormat) {
  const error = expecting(expected);
  return z
    .string({ error })
    .check(z.regex(pattern, { error }), z.meta({ description: `${description}: ${expected}`, examples: [example] }));
}

/** A non-negative integer as text: no sign, no leading zeros but `0` itself, at most uint256. */
function decimalFormat(description: string, example: string) {
  const expected = 'a decimal string without sign or leading zeros, at most 2^256-1';
  return textFormat({ pattern: /^(?:0|[1-9][0-9]{0,77})$/, expected, description, example }).check(
    // Runs beside the pattern, so on any text: of texts of one length, the order of letters is that of numbers.
    z.refine((text) => text.length !== uint256MaxText.length || text <= uint256MaxText, {
      error: `expected ${expected}`,
    }),
  );
}

const address = {
  pattern: /^0x[0-9a-fA-F]{40}$/,
  expected: '0x followed by 40 hex digits',
  example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
} as const;

export const addressFormat = textFormat({ ...address, description: 'Ethereum address' });

export const chainNameFormat = textFormat({
  pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/,
  expected: '1 to 64 of letters, digits and ". _ : -", beginning with a letter or digit',
  description: 'Chain the request targets; CAIP-2 ids fit',
  example: 'eip155:31337',
});

const id = { pattern: /^0x(?:[0-9a-fA-F]{2}){1,32}$/, expected: '0x followed by 1 to 32 whole bytes of hex' } as const;

export const cloudIdFormat = textFormat({ ...id, description: 'Id of a prism', example: `0x${'c1'.repeat(32)}` });
export const dataIdFormat = textFormat({ ...id, description: 'Id of an entry', example: `0x${'0d'.repeat(32)}` });
export const saltFormat = textFormat({ ...id, description: 'Salt of a new prism id', example: `0x${'5a'.repeat(32)}` });

export const payloadFormat = textFormat({
  pattern: /^0x(?:[0-9a-fA-F]{2})*$/,
  expected: '0x followed by 0 or more whole bytes of hex',
  description: 'Data to write',
  example: '0x68656c6c6f',
});

export const bytes32Format = textFormat({
  pattern: /^0x[0-9a-fA-F]{64}$/,
  expected: '0x followed by 64 hex digits',
  description: 'Half of a signature',
  example: `0x${'1f'.repeat(32)}`,
});

export const txHashFormat = textFormat({
  pattern: /^0x[0-9a-fA-F]{64}$/,
  expected: '0x followed by 64 hex digits',
  description: 'Transaction hash',
  example: `0x${'ab'.repeat(32)}`,
});

export const recoveryValueFormat = z
  .int({ error: expecting('an integer from 0 to 255') })
  .check(
    z.gte(0, { error: expecting('an integer from 0 to 255') }),
    z.lte(255, { error: expecting('an integer from 0 to 255') }),
    z.meta({ description: 'Recovery value of a signature; the Forwarder checks it', examples: [27] }),
  );

export const relayerFeeFormat = decimalFormat(
  'Fee for the relayer, in credit-token base units (18 decimals)',
  '10000000000000000',
);
export const fundAmountFormat = decimalFormat("Credits to move to the new prism's balance, in base units", '0');
export const relayerFundAmountFormat = decimalFormat('Credits the relayer adds to the new prism, in base units', '0');
export const timestampFormat = decimalFormat('Unix time of signing, in seconds', '1767225600');
export const deadlineFormat = decimalFormat('Unix time after which the permit is void, in seconds', '1767229200');

export const requestIdFormat = textFormat({
  // Versions 1 to 8, and the nil and max UUIDs.
  pattern:
    /^(?:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|0{8}(?:-0{4}){3}-0{12}|[fF]{8}(?:-[fF]{4}){3}-[fF]{12})$/,
  expected: 'a UUID of RFC 9562',
  description: 'Id of a request; the service makes version 7',
  example: '0197c2a4-5b1e-7c3d-8f60-0242ac120002',
});

export const isoTimeFormat = textFormat({
  pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
  expected: 'ISO 8601, UTC, milliseconds',
  description: 'Time',
  example: '2026-01-01T00:00:00.000Z',
});

/** A text of 1 to `max` Unicode code points, without lone surrogates. */
export function codePointsFormat(max: number, description: string, example: string) {
  const expected = `1 to ${max} Unicode characters`;
  const error = expecting(expected);
  return z.string({ error }).check(
    z.refine((text) => text.length > 0 && text.length <= 2 * max && [...text].length <= max && text.isWellFormed(), {
      error,
    }),
    z.meta({ description: `${description}: ${expected}`, examples: [example], minLength: 1, maxLength: max }),
  );
}
