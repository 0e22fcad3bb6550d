import { expect, test } from 'vitest';
import { parseWith } from '../errors/fault.ts';
import { EXAMPLE_REQUESTS } from '../examples/index.ts';
import { requestPageSchema, requestRecordSchema } from './record.ts';

const { chainName, action, params } = EXAMPLE_REQUESTS.WRITE_DATA_FOR;
const record = {
  requestId: '0197c2a4-5b1e-7c3d-8f60-0242ac120002',
  chainName,
  action,
  signer: params.signer,
  status: 'pending',
  params,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const claimed = { claimedBy: params.signer, claimedAt: '2026-01-01T00:00:01.000Z' };

test('a record has what it has, and nothing that is null', () => {
  const records = [
    record,
    { ...record, status: 'processing', ...claimed },
    { ...record, status: 'success', ...claimed, txHash: `0x${'ab'.repeat(32)}` },
    { ...record, status: 'failed', ...claimed, errorMessage: 'out of gas' },
  ];
  for (const value of records) expect(parseWith(requestRecordSchema, value)).toEqual({ value });
  expect(parseWith(requestRecordSchema, { ...record, txHash: null })).toHaveProperty('faults');
  expect(parseWith(requestRecordSchema, { ...record, claimId: 'x' })).toHaveProperty('faults');
});

test('a page has its records, their count, and a cursor or null', () => {
  for (const lastKey of [null, 'abc']) {
    const value = { items: [record], count: 1, lastKey };
    expect(parseWith(requestPageSchema, value)).toEqual({ value });
  }
  expect(parseWith(requestPageSchema, { items: [], count: 0 })).toHaveProperty('faults');
});
