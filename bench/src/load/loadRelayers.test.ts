import { keccak256, recoverMessageAddress, stringToHex } from 'viem';
import { expect, test } from 'vitest';
import { loadRelayers } from './loadRelayers.ts';

test('signs the five lines as an EIP-191 message', async () => {
  const [relayer] = await loadRelayers(1);
  const body = '{"status":"processing"}';
  const call = { method: 'PATCH', path: '/requests/x', body, timestampMs: 1_767_225_600_123 } as const;
  const headers = relayer?.signHeaders(call) ?? {};
  const message = `Service Relayer Auth\nTimestamp: 1767225600123\nMethod: PATCH\nPath: /requests/x\nBody: ${keccak256(stringToHex(body))}`;
  const signature = headers['x-relayer-signature'] as `0x${string}`;
  expect((await recoverMessageAddress({ message, signature })).toLowerCase()).toBe(relayer?.address);
  expect(headers).toMatchObject({
    'x-relayer-address': relayer?.address,
    'x-relayer-timestamp': '1767225600123',
  });
});
