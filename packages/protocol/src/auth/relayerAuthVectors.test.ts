import type { Hex } from 'viem';
import { keccak256, recoverAddress, recoverMessageAddress } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { buildRelayerAuthVectors } from '../../scripts/relayerAuth/buildRelayerAuthVectors.ts';
import file from '../../vectors/relayer-auth.json' with { type: 'json' };

type Vector = (typeof file.vectors)[number];

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function isTimely({ now, request }: Vector): boolean {
  const text = request.headers['X-Relayer-Timestamp'] ?? '';
  if (!/^[0-9]{1,16}$/.test(text)) return false;
  const distance = BigInt(text) - BigInt(now);
  return distance <= 300_000n && distance >= -300_000n;
}

function isStrict(signature: string): signature is Hex {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return false;
  const r = BigInt(signature.slice(0, 66));
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  const v = Number.parseInt(signature.slice(130), 16);
  return r > 0n && r < order && s > 0n && s <= order / 2n && [0, 1, 27, 28].includes(v);
}

/** Whom the call's own signature names, or undefined. */
async function recoverSigner({ request }: Vector): Promise<string | undefined> {
  const { headers, method, path, bodyHex } = request;
  const signature = headers['X-Relayer-Signature'] ?? '';
  if (!isStrict(signature) || /%|\/\/|\/\.{1,2}(?:\/|$)/.test(path)) return undefined;
  const message = [
    'Service Relayer Auth',
    `Timestamp: ${headers['X-Relayer-Timestamp']}`,
    `Method: ${method}`,
    `Path: ${path}`,
    // The file's bodies are hex.
    `Body: ${keccak256(bodyHex as Hex)}`,
  ].join('\n');
  return await recoverMessageAddress({ message, signature }).catch(() => undefined);
}

/** A second, plain reading of the contract, to check the vectors by. */
async function evaluate(vector: Vector): Promise<string> {
  if (!isTimely(vector)) return 'timestamp';
  const address = vector.request.headers['X-Relayer-Address']?.toLowerCase();
  const recovered = await recoverSigner(vector);
  if (recovered === undefined || recovered.toLowerCase() !== address) return 'signature';
  return file.whitelist.includes(recovered) ? 'accepted' : 'whitelist';
}

test('the file is what the generator makes', async () => {
  expect(file).toEqual(await buildRelayerAuthVectors());
});

test('every vector has a name of its own', () => {
  expect(new Set(file.vectors.map(({ name }) => name)).size).toBe(file.vectors.length);
});

describe('each vector is checked as it says', () => {
  test.each(file.vectors.map((vector) => [vector.expected, vector.name, vector] as const))(
    '%s: %s',
    async (expected, _, vector) => {
      expect(await evaluate(vector)).toBe(expected);
    },
  );
});

describe('a refused vector has the one fault that it names', () => {
  test('where it sends the signature as it was made, that signature is good for what was signed', async () => {
    const whole = file.vectors.filter(({ signed, request }) => {
      return request.headers['X-Relayer-Signature'] === signed.signature;
    });
    expect(whole.length).toBeGreaterThan(80);
    for (const { name, signed } of whole) {
      // The file's digests and signatures are hex.
      const hash = signed.digest as Hex;
      const signature = signed.signature as Hex;
      expect([name, await recoverAddress({ hash, signature })]).toEqual([name, signed.address]);
      expect(isStrict(signature)).toBe(true);
    }
  });

  test('where its timestamp is wrong, the signature is right, but where the name says otherwise', async () => {
    const late = file.vectors.filter(({ expected }) => expected === 'timestamp');
    const signers = await Promise.all(late.map(recoverSigner));
    const unsigned = late.filter(({ signed }, i) => signers[i] !== signed.address).map(({ name }) => name);
    expect(unsigned).toEqual(['no timestamp', 'a wrong timestamp and a wrong signature', 'none of the three headers']);
  });
});

test('accepted vectors are signed as a client signs', async () => {
  for (const { expected, request, signed, recoveredAddress } of file.vectors) {
    if (expected !== 'accepted') continue;
    expect(signed.bodyHash).toBe(keccak256(request.bodyHex as Hex));
    expect(recoveredAddress).toBe(signed.address);
    expect(request.headers['X-Relayer-Address']?.toLowerCase()).toBe(signed.address.toLowerCase());
  }
});

test('recovery values stand as their names say', () => {
  const endings = file.vectors
    .filter(({ expected, name }) => expected === 'accepted' && name.startsWith('a recovery value of'))
    .map(({ name, request }) => [name, request.headers['X-Relayer-Signature']?.slice(-2)]);
  expect(endings).toEqual([
    ['a recovery value of 27', '1b'],
    ['a recovery value of 28', '1c'],
    ['a recovery value of 0, read as 27', '00'],
    ['a recovery value of 1, read as 28', '01'],
  ]);
});
