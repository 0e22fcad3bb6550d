import { keccak256, stringToHex } from 'viem';
import { ADDRESSES, type Case, NOW, REQUEST_PATH } from './vectorCase.ts';

const [address] = ADDRESSES as [string, ...string[]];
const get = { method: 'GET', path: '/requests', body: null } as const;
const txHash = keccak256(stringToHex('a transaction'));
/** Recovery value as 0 or 1, the way some libraries write it. */
const withParity = (signature: string) =>
  `${signature.slice(0, 130)}0${Number.parseInt(signature.slice(130), 16) - 27}`;

/** Calls that pass every check. */
export const GOOD_CASES: readonly Case[] = [
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
