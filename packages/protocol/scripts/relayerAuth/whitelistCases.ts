import { ADDRESSES, type Case } from './vectorCase.ts';

const [first, , outsider] = ADDRESSES as [string, string, string];

/** Calls of those who are not whitelisted, or pretend to be somebody else. */
export const WHITELIST_CASES: readonly Case[] = [
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
