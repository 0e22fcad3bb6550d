import { createPublicKey } from 'node:crypto';
import { type Address, bytesToHex, type Hex, hexToBytes, numberToHex, recoverAddress } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { type Account, AccountError, createSigningAccount, type DigestSignature } from './account.ts';

/** The order of secp256k1's group. @see https://www.secg.org/sec2-v2.pdf */
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const HALF_BYTES = 32;

function refuse(what: string, cause?: unknown): never {
  throw new AccountError('KMS_FAILED', `The key of KMS cannot be used: ${what}.`, { cause });
}

/** Reads a DER integer of at most 32 bytes. @returns it, and where it ends */
function readInteger(der: Uint8Array, start: number): { value: bigint; end: number } {
  const length = der[start + 1] ?? 0;
  const end = start + 2 + length;
  if (der[start] !== INTEGER || length < 1 || length > HALF_BYTES + 1 || end > der.length)
    refuse('its signature is no DER');
  return { value: BigInt(bytesToHex(der.subarray(start + 2, end))), end };
}

/**
 * Reads an ECDSA signature in DER, and makes its `s` a low one, as Ethereum wants it.
 *
 * @throws AccountError `KMS_FAILED`
 * @see RFC 3279 2.2.3, EIP-2
 */
export function parseDerSignature(der: Uint8Array): { readonly r: bigint; readonly s: bigint } {
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2) refuse('its signature is no DER');
  const r = readInteger(der, 2);
  const s = readInteger(der, r.end);
  const isInRange = (value: bigint) => value > 0n && value < GROUP_ORDER;
  if (s.end !== der.length || !isInRange(r.value) || !isInRange(s.value)) refuse('its signature is no DER');
  return { r: r.value, s: s.value > GROUP_ORDER / 2n ? GROUP_ORDER - s.value : s.value };
}

/** Reads the address of a public key in SPKI, as KMS gives it. */
function readAddress(spki: Uint8Array): Address {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  if (key.asymmetricKeyDetails?.namedCurve !== 'secp256k1') refuse('it is not of the kind ECC_SECG_P256K1');
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return publicKeyToAddress(bytesToHex(point));
}

async function findParity(digest: Hex, { r, s, address }: { r: Hex; s: Hex; address: Address }): Promise<0 | 1> {
  for (const yParity of [0, 1] as const) {
    const recovered = await recoverAddress({ hash: digest, signature: { r, s, yParity } });
    if (recovered === address) return yParity;
  }
  return refuse('its signature is that of another key');
}

/**
 * Opens an account whose key is in AWS KMS (`ECC_SECG_P256K1`, `SIGN_VERIFY`) and never leaves it. Region, credentials and endpoint
 * are what the AWS SDK finds: `AWS_REGION`, `AWS_ENDPOINT_URL_KMS`, roles and profiles.
 *
 * @returns the account; signing throws AccountError `KMS_FAILED` if KMS does not answer
 * @throws AccountError `KMS_FAILED`
 * @see https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html
 */
export async function openKmsAccount(keyId: string): Promise<Account> {
  // Only who keeps a key there loads its client.
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await import('@aws-sdk/client-kms');
  const client = new KMSClient({});
  const wrap = (error: unknown): never => {
    if (error instanceof AccountError) throw error;
    // Errors of AWS name the key's ARN and the caller at most.
    return refuse(error instanceof Error ? error.name : 'no answer', error);
  };
  const { PublicKey: spki } = await client.send(new GetPublicKeyCommand({ KeyId: keyId })).catch(wrap);
  if (spki === undefined) return refuse('it has no public half');
  const address = readAddress(spki);
  async function signDigest(digest: Hex): Promise<DigestSignature> {
    const order = { Message: hexToBytes(digest), MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const;
    const { Signature: der } = await client.send(new SignCommand({ KeyId: keyId, ...order })).catch(wrap);
    if (der === undefined) return refuse('it gave no signature');
    const halves = parseDerSignature(der);
    const [r, s] = [numberToHex(halves.r, { size: HALF_BYTES }), numberToHex(halves.s, { size: HALF_BYTES })];
    return { r, s, yParity: await findParity(digest, { r, s, address }) };
  }
  return createSigningAccount({ address, signDigest });
}
