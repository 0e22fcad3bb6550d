import { loadKeccak256, loadSecp256k1 } from '@prism-gateway/node/crypto';
import { createRelayerAuthMessage, EMPTY_BODY_HASH } from '@prism-gateway/protocol';
import { expect, test } from 'vitest';
import { authenticateRelayer, type RelayerAuthPorts } from './relayer.ts';

/** Half the order of secp256k1, rounded down: the largest `s` that is low. */
const HALF = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const NOW = 1_800_000_000_000;

const keccak256 = await loadKeccak256();
const { recoverPublicKey } = loadSecp256k1('native');

/** Any `r` and `s` are somebody's signature, of a key that nobody knows: recovery tells whose. */
async function evaluate(s: bigint): Promise<string> {
  // The x coordinate of the curve's generator.
  const r = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
  const rs = Buffer.from(`${r}${s.toString(16).padStart(64, '0')}`, 'hex');
  const message = createRelayerAuthMessage({
    timestamp: String(NOW),
    method: 'GET',
    path: '/requests',
    bodyHash: EMPTY_BODY_HASH,
  });
  const digest = keccak256(Buffer.from(`\x19Ethereum Signed Message:\n${message.length}${message}`));
  const publicKey = recoverPublicKey(digest, rs, 0);
  if (publicKey === undefined) throw new Error('such a signature has a key');
  const address = `0x${Buffer.from(keccak256(publicKey)).toString('hex', 12)}`;
  const headers = {
    'x-relayer-address': address,
    'x-relayer-signature': `0x${rs.toString('hex')}1b`,
    'x-relayer-timestamp': String(NOW),
  };
  const raw = new Request('http://gateway.test/requests', { headers });
  const { signal } = raw;
  const call = {
    raw,
    signal,
    method: 'GET',
    path: '/requests',
    query: '',
    params: {},
    peer: '',
    body: new Uint8Array(0),
  };
  // The store's other methods are not authentication's to call.
  const relayers = { find: async () => ({ address }) } as unknown as RelayerAuthPorts['relayers'];
  const ports = { relayers, crypto: { keccak256, recoverPublicKey }, now: () => NOW };
  return await authenticateRelayer(ports, call).then(
    ({ identity }) => (identity === address ? 'accepted' : 'another'),
    (error: Error) => error.message,
  );
}

test('s is low up to half the order, and high from there on', async () => {
  expect(await evaluate(HALF)).toBe('accepted');
  expect(await evaluate(HALF - 1n)).toBe('accepted');
  expect(await evaluate(HALF + 1n)).toContain('s is in the upper half');
});
