import { loadKeccak256, loadSecp256k1 } from '@prism-gateway/node/crypto';
import file from '@prism-gateway/protocol/vectors/relayer-auth.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { loadCompactRecovery } from '../drivers/secp256k1/loadCompactRecovery.ts';
import { ApiError } from '../http/errors.ts';
import { authenticateRelayer, type RelayerAuthPorts } from './relayer.ts';

type Vector = (typeof file.vectors)[number];

const keccak256 = await loadKeccak256();
const whitelist = new Set(file.whitelist.map((address) => address.toLowerCase()));

function callOf({ request }: Vector) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, value);
  const { method, path, bodyHex } = request;
  const body = new Uint8Array(Buffer.from(bodyHex.slice(2), 'hex'));
  // The path that is checked is the call's own, as routed; the Request only carries headers.
  return { raw: { headers }, method, path, body };
}

/** Which check refuses a vector, or `accepted`. */
async function evaluate(vector: Vector, recoverPublicKey: RelayerAuthPorts['crypto']['recoverPublicKey'], more = {}) {
  const find = async (address: string) =>
    whitelist.has(address.toLowerCase()) ? { address, createdAt: 1, updatedAt: 1, ...more } : undefined;
  // The store's other methods are not authentication's to call.
  const relayers = { find } as RelayerAuthPorts['relayers'];
  const ports = { relayers, crypto: { keccak256, recoverPublicKey }, now: () => vector.now };
  try {
    const { identity, client } = await authenticateRelayer(ports, callOf(vector));
    expect(identity).toBe(vector.request.headers['X-Relayer-Address']);
    expect(client).toBe(`relayer:${identity.toLowerCase()}`);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.status).toBe(401);
    const check = /failed at the (\w+) check/.exec(error.message)?.[1];
    const isSuspended = 'suspendedAt' in more;
    expect(error.code).toBe(isSuspended ? 'RELAYER_SUSPENDED' : `RELAYER_${check?.toUpperCase()}_REJECTED`);
    return check;
  }
}

describe.each([
  ['native', () => loadSecp256k1('native').recoverPublicKey],
  ['wasm', () => loadSecp256k1('wasm').recoverPublicKey],
  ['compact wasm', loadCompactRecovery],
])('on %s recovery', async (_, load) => {
  const recoverPublicKey = await load();
  test.each(file.vectors.map((vector) => [vector.expected, vector.name, vector] as const))(
    '%s: %s',
    async (expected, _name, vector) => {
      expect(await evaluate(vector, recoverPublicKey)).toBe(expected);
    },
  );

  // Shows AUTH-9.
  test('a suspended relayer fails like one that is not whitelisted', async () => {
    const accepted = file.vectors.filter(({ expected }) => expected === 'accepted');
    expect(accepted).not.toHaveLength(0);
    for (const vector of accepted) {
      const suspended = { suspendedAt: 2, suspendReason: 'it lied' };
      expect(await evaluate(vector, recoverPublicKey, suspended)).toBe('whitelist');
    }
  });
});
