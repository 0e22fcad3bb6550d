import { keccak256, recoverMessageAddress, stringToHex } from 'viem';
import { expect, test } from 'vitest';
import { createKeyPair } from './createKeyPair.ts';
import { hashBody } from './hashBody.ts';
import { loadSigningCrypto } from './loadSigningCrypto.ts';
import { emptyBodyHash, signRelayerCall } from './signRelayerCall.ts';

test('signs the five lines as an EIP-191 message', async () => {
  const crypto = await loadSigningCrypto();
  const relayer = createKeyPair(crypto);
  const body = '{"status":"processing"}';
  const bodyHash = hashBody(crypto.keccak256, body);
  expect(bodyHash).toBe(keccak256(stringToHex(body)));

  const call = { method: 'PATCH', path: '/requests/x', bodyHash, timestampMs: 1_767_225_600_123 } as const;
  const lines = signRelayerCall(crypto, { relayer, call });
  const signature = /X-Relayer-Signature: (0x[0-9a-f]{130})\r\n/.exec(lines)?.[1] as `0x${string}`;
  const message = `Service Relayer Auth\nTimestamp: 1767225600123\nMethod: PATCH\nPath: /requests/x\nBody: ${bodyHash}`;
  const recovered = await recoverMessageAddress({ message, signature });
  expect(recovered.toLowerCase()).toBe(relayer.address);
  expect(lines).toContain(`X-Relayer-Address: ${relayer.address}\r\nX-Relayer-Signature: `);
  expect(lines).toContain('X-Relayer-Timestamp: 1767225600123\r\n');
});

test('knows the hash of no body', async () => {
  const { keccak256: hash } = await loadSigningCrypto();
  expect(hashBody(hash, '')).toBe(emptyBodyHash);
});
