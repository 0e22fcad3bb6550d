import { keccak256 } from 'viem/utils';
import { expect, test } from 'vitest';
import { createRelayerAuthMessage, EMPTY_BODY_HASH, RELAYER_TIMESTAMP_SKEW_MS } from './relayerAuth.ts';

const fields = { timestamp: '0001767225600000', method: 'PATCH', path: '/requests/a', bodyHash: '0xab' };

test('the message has five lines, joined by LF, without a trailing one', () => {
  expect(createRelayerAuthMessage(fields)).toBe(
    'Service Relayer Auth\nTimestamp: 0001767225600000\nMethod: PATCH\nPath: /requests/a\nBody: 0xab',
  );
});

test('the method is written in upper case', () => {
  expect(createRelayerAuthMessage({ ...fields, method: 'patch' })).toBe(createRelayerAuthMessage(fields));
});

test('the hash of an empty body is that of zero bytes', () => {
  expect(EMPTY_BODY_HASH).toBe(keccak256('0x'));
});

test('a timestamp may be 5 minutes off', () => {
  expect(RELAYER_TIMESTAMP_SKEW_MS).toBe(300_000);
});
