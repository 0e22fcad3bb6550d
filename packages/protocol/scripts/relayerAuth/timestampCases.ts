import { type Case, NOW } from './vectorCase.ts';

const wrong = (name: string, timestamp: string, note?: string): Case => ({
  name,
  expected: 'timestamp',
  timestamp,
  ...(note && { note }),
});

const flipLastDigit = (signature: string) =>
  `${signature.slice(0, -3)}${signature.at(-3) === '0' ? '1' : '0'}${signature.slice(-2)}`;

/** Calls whose timestamp is wrong; each is rightly signed over the text as it is sent. */
export const TIMESTAMP_CASES: readonly Case[] = [
  { name: 'no timestamp', expected: 'timestamp', headers: { timestamp: null } },
  wrong('an empty timestamp', ''),
  wrong('a timestamp in letters', 'now'),
  wrong('a timestamp in ISO 8601', '2026-01-01T00:00:00.000Z'),
  wrong('a negative timestamp', `-${NOW}`),
  wrong('a timestamp with a plus sign', `+${NOW}`),
  wrong('a timestamp with a decimal point', `${NOW}.0`),
  wrong('a timestamp with an exponent', '1.7672256e12'),
  wrong('a timestamp in hex', `0x${NOW.toString(16)}`),
  wrong('a timestamp with a space inside', '1767225 600000'),
  wrong('a timestamp with commas', '1,767,225,600,000'),
  wrong('a timestamp with underscores', '1_767_225_600_000'),
  wrong('a timestamp sent twice', `${NOW}, ${NOW}`, 'HTTP joins the values of a repeated header.'),
  wrong('a timestamp of 17 digits', `0000${NOW}`, 'Its number would be right.'),
  wrong('a timestamp of 16 digits, far ahead', '9999999999999999'),
  wrong('a timestamp of 0', '0'),
  wrong('a timestamp in seconds', String(NOW / 1000)),
  wrong('a timestamp in microseconds', `${NOW}000`),
  wrong('a timestamp one millisecond too old', String(NOW - 300_001)),
  wrong('a timestamp one millisecond too new', String(NOW + 300_001)),
  wrong('a timestamp of yesterday', String(NOW - 86_400_000)),
  {
    name: 'a wrong timestamp and a wrong signature',
    expected: 'timestamp',
    note: 'The first failing check is named.',
    timestamp: String(NOW - 300_001),
    signature: flipLastDigit,
  },
  {
    name: 'a wrong timestamp and a relayer that is not whitelisted',
    expected: 'timestamp',
    timestamp: String(NOW + 300_001),
    key: 2,
  },
  {
    name: 'none of the three headers',
    expected: 'timestamp',
    headers: { address: null, signature: null, timestamp: null },
  },
];
