import { keccak256, stringToHex } from 'viem';
import { EMPTY_BODY_HASH, RELAYER_TIMESTAMP_SKEW_MS } from '../../src/auth/relayerAuth.ts';
import { MESSAGE_CASES } from './messageCases.ts';
import { SIGNATURE_FORM_CASES } from './signatureFormCases.ts';
import { ADDRESSES, buildVector, type Case, NOW, REQUEST_PATH, WHITELIST } from './vectorCase.ts';

const [address] = ADDRESSES as [string, ...string[]];
const get = { method: 'GET', path: '/requests', body: null } as const;
const txHash = keccak256(stringToHex('a transaction'));
/** Recovery value as 0 or 1, the way some libraries write it. */
const withParity = (signature: string) =>
  `${signature.slice(0, 130)}0${Number.parseInt(signature.slice(130), 16) - 27}`;

/** Calls that pass every check. */
const GOOD_CASES: readonly Case[] = [
  { name: 'a claim', expected: 'accepted' },
  { name: 'a claim by another relayer', expected: 'accepted', key: 1 },
  { name: 'a report of success', expected: 'accepted', body: `{"status":"success","txHash":"${txHash}"}` },
  {
    name: 'a report of failure with letters beyond ASCII',
    expected: 'accepted',
    body: '{"status":"failed","errorMessage":"gas 💸 – zu wenig für die Gebühr"}',
  },
  {
    name: 'a body with spaces, line ends and its keys in another order',
    expected: 'accepted',
    note: 'The raw bytes are hashed, not the JSON that they mean.',
    body: `{\r\n  "txHash" : "${txHash}",\n\t"status":"success"\n}\n`,
  },
  {
    name: 'a body that is not JSON',
    expected: 'accepted',
    note: 'Auth comes before validation; the answer is 400.',
    body: 'status=processing',
  },
  {
    name: 'a body that is not UTF-8',
    expected: 'accepted',
    note: 'Auth comes before validation; the answer is 400.',
    body: { hex: '0x7b22737461747573223a22ff22fe7d' },
  },
  {
    name: 'a PATCH with an empty body',
    expected: 'accepted',
    note: 'Auth comes before validation; the answer is 400.',
    body: null,
  },
  { name: 'a list by status, without a body', expected: 'accepted', ...get, query: 'status=pending' },
  {
    name: 'a list whose query is long; the query is not signed',
    expected: 'accepted',
    ...get,
    query: 'status=pending&chainName=eip155%3A31337&limit=100&order=desc',
  },
  {
    name: 'a recovery value of 27',
    expected: 'accepted',
    timestamp: String(NOW + 1),
  },
  {
    name: 'a recovery value of 28',
    expected: 'accepted',
    timestamp: String(NOW + 3),
  },
  {
    name: 'a recovery value of 0, read as 27',
    expected: 'accepted',
    timestamp: String(NOW + 1),
    signature: withParity,
  },
  {
    name: 'a recovery value of 1, read as 28',
    expected: 'accepted',
    timestamp: String(NOW + 3),
    signature: withParity,
  },
  {
    name: 'a signature in upper-case hex',
    expected: 'accepted',
    signature: (signature) => `0x${signature.slice(2).toUpperCase()}`,
  },
  { name: 'an address in lower case', expected: 'accepted', headers: { address: address.toLowerCase() } },
  {
    name: 'an address in upper case',
    expected: 'accepted',
    headers: { address: `0x${address.slice(2).toUpperCase()}` },
  },
  {
    name: 'an address whose letter case is no right checksum',
    expected: 'accepted',
    headers: { address: `0xF${address.slice(3)}` },
  },
  {
    name: 'a path in upper case, signed as it is sent',
    expected: 'accepted',
    path: `/requests/${REQUEST_PATH.slice(10).toUpperCase()}`,
  },
  { name: 'a timestamp 5 minutes old', expected: 'accepted', timestamp: String(NOW - 300_000) },
  { name: 'a timestamp 5 minutes ahead', expected: 'accepted', timestamp: String(NOW + 300_000) },
  {
    name: 'a timestamp of 16 digits with leading zeros, signed as it is sent',
    expected: 'accepted',
    timestamp: `000${NOW}`,
  },
  { name: 'a timestamp of one digit', expected: 'accepted', now: 300_007, timestamp: '7' },
];

const [first, , outsider] = ADDRESSES as [string, string, string];

/** Calls of those who are not whitelisted, or pretend to be somebody else. */
const WHITELIST_CASES: readonly Case[] = [
  { name: 'a relayer that is not whitelisted', expected: 'whitelist', key: 2 },
  {
    name: 'a relayer that is not whitelisted, in lower case',
    expected: 'whitelist',
    key: 2,
    headers: { address: outsider.toLowerCase() },
  },
  {
    name: 'signed by another whitelisted key than that of the address',
    expected: 'signature',
    key: 1,
    headers: { address: first },
  },
  {
    name: 'signed by a key that is not whitelisted for an address that is',
    expected: 'signature',
    key: 2,
    headers: { address: first },
  },
  {
    name: 'signed by a whitelisted key for an address that is not',
    expected: 'signature',
    note: 'The signature is checked before the whitelist.',
    key: 0,
    headers: { address: outsider },
  },
];

const wrong = (name: string, timestamp: string, note?: string): Case => ({
  name,
  expected: 'timestamp',
  timestamp,
  ...(note && { note }),
});

const flipLastDigit = (signature: string) =>
  `${signature.slice(0, -3)}${signature.at(-3) === '0' ? '1' : '0'}${signature.slice(-2)}`;

/** Calls whose timestamp is wrong; each is rightly signed over the text as it is sent. */
const TIMESTAMP_CASES: readonly Case[] = [
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

/** Builds the content of `vectors/relayer-auth.json`; the same every time. */
export async function buildRelayerAuthVectors() {
  const cases = [...GOOD_CASES, ...TIMESTAMP_CASES, ...SIGNATURE_FORM_CASES, ...MESSAGE_CASES, ...WHITELIST_CASES];
  return {
    timestampSkewMs: RELAYER_TIMESTAMP_SKEW_MS,
    emptyBodyHash: EMPTY_BODY_HASH,
    whitelist: WHITELIST,
    vectors: await Promise.all(cases.map(buildVector)),
  };
}
