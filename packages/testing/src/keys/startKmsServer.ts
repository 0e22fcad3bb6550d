import { createPublicKey } from 'node:crypto';
import { type Hex, hexToBytes, numberToHex } from 'viem';
import { privateKeyToAccount, publicKeyToAddress, sign } from 'viem/accounts';
import type { LoopbackServer } from '../listenOnLoopback.ts';
import { startFetchServer } from '../startFetchServer.ts';

const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** A server that speaks as much of AWS KMS as signing takes. */
export interface KmsServer extends AsyncDisposable {
  readonly url: string;
  readonly address: Hex;
  /** Which halves `s` it gives: low and high ones in turn, as KMS does by chance. */
  readonly signatures: readonly Hex[];
  /** Has it refuse what comes. */
  refuse(): void;
}

/** A DER integer: no needless zeros, and one if the highest bit would make it negative. */
function encodeInteger(value: bigint): Buffer {
  const bytes = Buffer.from(hexToBytes(numberToHex(value)));
  const padded = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return Buffer.concat([Buffer.from([0x02, padded.length]), padded]);
}

function encodeSignature(r: bigint, s: bigint): Buffer {
  const halves = Buffer.concat([encodeInteger(r), encodeInteger(s)]);
  return Buffer.concat([Buffer.from([0x30, halves.length]), halves]);
}

function encodePublicKey(publicKey: Hex): string {
  const point = Buffer.from(hexToBytes(publicKey));
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  const key = createPublicKey({ key: { kty: 'EC', crv: 'secp256k1', x, y }, format: 'jwk' });
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

/**
 * Starts a KMS on 127.0.0.1 that holds one key of the kind `ECC_SECG_P256K1`, and signs digests in DER, with `s` low and high in turn.
 *
 * @param keyId - the only one it knows
 * @param privateKey - 32 bytes
 * @see https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html
 */
export async function startKmsServer(keyId: string, privateKey: Hex): Promise<KmsServer> {
  const { publicKey } = privateKeyToAccount(privateKey);
  const signatures: Hex[] = [];
  let isRefusing = false;
  const answer = (body: unknown, status = 200) =>
    Response.json(body, { status, headers: { 'content-type': 'application/x-amz-json-1.1' } });
  const server: LoopbackServer = await startFetchServer(async (request) => {
    const call = (await request.json()) as Record<string, string>;
    if (isRefusing) return answer({ __type: 'AccessDeniedException', message: 'no' }, 400);
    if (call.KeyId !== keyId) return answer({ __type: 'NotFoundException', message: 'no such key' }, 400);
    if (request.headers.get('x-amz-target') === 'TrentService.GetPublicKey')
      return answer({ KeyId: keyId, KeySpec: 'ECC_SECG_P256K1', PublicKey: encodePublicKey(publicKey) });
    if (call.MessageType !== 'DIGEST' || call.SigningAlgorithm !== 'ECDSA_SHA_256')
      return answer({ __type: 'ValidationException', message: 'digests alone' }, 400);
    const hash = `0x${Buffer.from(call.Message ?? '', 'base64').toString('hex')}` as Hex;
    const { r, s } = await sign({ hash, privateKey });
    const half = signatures.length % 2 === 0 ? GROUP_ORDER - BigInt(s) : BigInt(s);
    signatures.push(numberToHex(half, { size: 32 }));
    return answer({ KeyId: keyId, Signature: encodeSignature(BigInt(r), half).toString('base64') });
  });
  return {
    url: server.url,
    address: publicKeyToAddress(publicKey),
    signatures,
    refuse: () => {
      isRefusing = true;
    },
    [Symbol.asyncDispose]: async () => void (await server.close()),
  };
}
