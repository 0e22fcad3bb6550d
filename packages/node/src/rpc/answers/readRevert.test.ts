import { expect, test } from 'vitest';
import { RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import { readRevert } from './readRevert.ts';

test.each([
  [{ code: 3, message: 'execution reverted', data: '0xabCD' }, { reverted: '0xabCD' }],
  [{ code: 3, message: 'oh' }, { reverted: undefined }],
  [{ code: -32_000, message: 'VM Exception: revert' }, { reverted: undefined }],
  [{ code: -32_015, message: 'Reverted', data: { data: '0x12' } }, { reverted: '0x12' }],
  [{ code: 3, message: 'execution reverted', data: 'Reverted 0x' }, { reverted: undefined }],
  [{ code: -32_603, message: 'internal error', data: '0x12' }, undefined],
])('%j says %j', (answer, revert) => {
  expect(readRevert(new RpcAnswerError(answer))).toEqual(revert);
});

test('what is no answer is no revert', () => {
  expect(readRevert(new RpcUnavailableError('execution reverted'))).toBeUndefined();
  expect(readRevert(new Error('execution reverted'))).toBeUndefined();
});
