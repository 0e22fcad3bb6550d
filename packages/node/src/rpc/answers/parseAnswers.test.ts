import { expect, test } from 'vitest';
import {
  parseAddress,
  parseArray,
  parseBytes,
  parseCount,
  parseHash,
  parseLog,
  parseQuantity,
  parseRecord,
} from './parseAnswers.ts';

const HASH = `0x${'Ab'.repeat(32)}`;
const ADDRESS = `0x${'Cd'.repeat(20)}`;
const log = {
  address: ADDRESS,
  topics: [HASH],
  data: '0x12',
  blockHash: HASH,
  blockNumber: '0x10',
  transactionHash: HASH,
  transactionIndex: '0x0',
  logIndex: '0x2',
};

test('reads what nodes write, in lower case', () => {
  expect(parseQuantity('0x1B', 'it')).toBe(27n);
  expect(parseCount('0x0', 'it')).toBe(0);
  expect(parseHash(HASH, 'it')).toBe(HASH.toLowerCase());
  expect(parseAddress(ADDRESS, 'it')).toBe(ADDRESS.toLowerCase());
  expect(parseBytes('0x', 'it')).toBe('0x');
  expect(parseArray([1], 'it')).toEqual([1]);
  expect(parseRecord({ a: 1 }, 'it')).toEqual({ a: 1 });
  expect(parseLog(log, 'log')).toMatchObject({
    blockNumber: 16n,
    logIndex: 2,
    removed: false,
    topics: [HASH.toLowerCase()],
  });
});

test.each<[string, (value: unknown, what: string) => unknown, unknown]>([
  ['a quantity', parseQuantity, '0x01'],
  ['a quantity', parseQuantity, 27],
  ['a quantity', parseQuantity, '0x-1'],
  ['a count', parseCount, '0x20000000000000'],
  ['a hash', parseHash, '0x12'],
  ['an address', parseAddress, HASH],
  ['bytes', parseBytes, '0x123'],
  ['a list', parseArray, {}],
  ['a record', parseRecord, []],
  ['a record', parseRecord, null],
  ['a log', parseLog, { ...log, topics: ['0x12'] }],
  ['a log', parseLog, { ...log, blockNumber: null }],
])('%s is not read from nonsense', (_, parse, value) => {
  expect(() => parse(value, 'thing')).toThrow(
    expect.objectContaining({ code: 'RPC_ANSWER_INVALID', message: expect.stringMatching(/^the answer's thing/) }),
  );
});
