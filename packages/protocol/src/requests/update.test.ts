import { describe, expect, test } from 'vitest';
import { parseRequestId, parseUpdateRequest } from './update.ts';

const txHash = `0x${'ab'.repeat(32)}`;
const faultsOf = (input: unknown) => {
  const parsed = parseUpdateRequest(input);
  return 'faults' in parsed ? parsed.faults : [];
};
const pathsOf = (input: unknown) => faultsOf(input).map(({ path }) => path);

describe('takes', () => {
  test.each([
    [{ status: 'processing' }],
    [{ status: 'success', txHash }],
    [{ status: 'success', txHash: `0x${'AB'.repeat(32)}` }],
    [{ status: 'failed', errorMessage: 'a' }],
    [{ status: 'failed', errorMessage: 'x'.repeat(1000) }],
    [{ status: 'failed', errorMessage: '💸'.repeat(1000) }],
  ])('%j', (body) => {
    expect(parseUpdateRequest(body)).toEqual({ value: body });
  });
});

describe('is no object:', () => {
  test.each([[null], [undefined], [[]], ['processing'], [1]])('%j', (body) => {
    expect(pathsOf(body)).toEqual(['body']);
  });
});

describe('the status', () => {
  test.each([['pending'], ['done'], ['PROCESSING'], [''], [null], [1]])('is not %j', (status) => {
    expect(faultsOf({ status })).toEqual([{ path: 'status', message: 'expected one of processing, success, failed' }]);
  });

  test('is required', () => {
    expect(faultsOf({})).toEqual([
      { path: 'status', message: 'required: expected one of processing, success, failed' },
    ]);
  });
});

describe('a report', () => {
  test('of success needs its txHash', () => {
    expect(faultsOf({ status: 'success' })).toEqual([
      { path: 'txHash', message: 'required with status success: expected 0x followed by 64 hex digits' },
    ]);
  });

  test('of failure needs its errorMessage', () => {
    expect(faultsOf({ status: 'failed' })).toEqual([
      { path: 'errorMessage', message: 'required with status failed: expected 1 to 1000 Unicode characters' },
    ]);
  });

  test.each([[''], ['0x'], ['0x1'], [`0x${'ab'.repeat(33)}`], [1], [null]])('has no txHash of %j', (wrong) => {
    expect(faultsOf({ status: 'success', txHash: wrong })).toEqual([
      { path: 'txHash', message: 'expected 0x followed by 64 hex digits' },
    ]);
  });

  test.each([[''], ['x'.repeat(1001)], ['💸'.repeat(1001)], ['\ud800'], [1], [null], [{}]])(
    'has no errorMessage of %j',
    (wrong) => {
      expect(faultsOf({ status: 'failed', errorMessage: wrong })).toEqual([
        { path: 'errorMessage', message: 'expected 1 to 1000 Unicode characters' },
      ]);
    },
  );
});

describe('a field of another status is refused', () => {
  test.each([
    [{ status: 'processing', txHash }, 'txHash'],
    [{ status: 'processing', errorMessage: 'a' }, 'errorMessage'],
    [{ status: 'success', txHash, errorMessage: 'a' }, 'errorMessage'],
    [{ status: 'failed', errorMessage: 'a', txHash }, 'txHash'],
  ])('%j', (body, path) => {
    expect(faultsOf(body)).toEqual([{ path, message: `expected none with status ${body.status}` }]);
  });

  test('where it is null, too', () => {
    expect(pathsOf({ status: 'processing', txHash: null })).toContain('txHash');
  });
});

test.each([['__proto__'], ['constructor'], [''], ['claimedBy'], ['requestId']])('the field %j is unknown', (name) => {
  const body = JSON.parse(`{"status":"processing",${JSON.stringify(name)}:{"txHash":"${txHash}"}}`);
  expect(faultsOf(body)).toEqual([{ path: name || '[""]', message: 'unknown field' }]);
});

test('all faults are named at once', () => {
  for (const errorMessage of ['', 1]) {
    expect(pathsOf({ status: 'success', errorMessage, x: 1 }).sort()).toEqual([
      'errorMessage',
      'errorMessage',
      'txHash',
      'x',
    ]);
  }
});

test('a request id is a UUID in any letter case, and comes out in lower case', () => {
  const id = '0197c2a4-5b1e-7c3d-8f60-0242ac120002';
  expect(parseRequestId(id)).toEqual({ value: id });
  expect(parseRequestId(id.toUpperCase())).toEqual({ value: id });
  // Of another version than the service's own.
  expect(parseRequestId('1F0E8400-E29B-41D4-A716-446655440000')).toEqual({
    value: '1f0e8400-e29b-41d4-a716-446655440000',
  });
  for (const other of ['42', '', `${id} `, id.slice(1), undefined]) {
    expect(parseRequestId(other)).toEqual({ faults: [{ path: 'requestId', message: expect.any(String) }] });
  }
});
