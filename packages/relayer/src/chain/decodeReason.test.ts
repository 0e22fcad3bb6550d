import { cloudAbi, forwarderAbi } from '@prism-gateway/contracts';
import { encodeErrorResult, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { decodeReason, limitMessage, nameReason } from './decodeReason.ts';

const id = `0x${'c1'.repeat(32)}` as const;

test('custom errors are written with their arguments', () => {
  const data = encodeErrorResult({ abi: cloudAbi, errorName: 'InsufficientPrismBalance', args: [id, 5n, 10n ** 30n] });
  expect(decodeReason(data)).toBe(`InsufficientPrismBalance(${id}, 5, 1000000000000000000000000000000)`);
  expect(nameReason(data)).toBe('InsufficientPrismBalance');
});

test('so are those of the Forwarder, and the built-in ones', () => {
  const late = encodeErrorResult({ abi: forwarderAbi, errorName: 'RequestExpired', args: [7n] });
  expect(decodeReason(late)).toBe('RequestExpired(7)');
  const text: Hex = encodeErrorResult({
    abi: [{ type: 'error', name: 'Error', inputs: [{ type: 'string', name: 'message' }] }],
    errorName: 'Error',
    args: ['not today'],
  });
  expect(decodeReason(text)).toBe('Error(not today)');
});

test('what is no known error is reported as it is, and nothing as nothing', () => {
  expect(decodeReason('0xdeadbeef')).toBe('reverted with 0xdeadbeef');
  expect(nameReason('0xdeadbeef')).toBeUndefined();
  expect(decodeReason('0x')).toBe('reverted without a reason');
  expect(decodeReason(undefined)).toBe('reverted without a reason');
});

test('a message has 1 to 1000 code points, all of them whole', () => {
  expect([...limitMessage('😀'.repeat(2000))]).toHaveLength(1000);
  expect(limitMessage('😀'.repeat(2000)).isWellFormed()).toBe(true);
  expect(limitMessage('\ud800')).toBe('\ufffd');
  expect(limitMessage('')).not.toBe('');
  expect([...decodeReason(`0x${'ab'.repeat(5000)}`)].length).toBeLessThanOrEqual(1000);
});
