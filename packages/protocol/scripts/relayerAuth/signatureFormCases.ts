import { type Hex, hexToBytes } from 'viem';
import type { Case } from './vectorCase.ts';

/** Order of the secp256k1 group. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const word = (number: bigint) => number.toString(16).padStart(64, '0');
const rOf = (signature: string) => signature.slice(2, 66);
const sOf = (signature: string) => signature.slice(66, 130);
const vOf = (signature: string) => Number.parseInt(signature.slice(130), 16);
const join = (r: string, s: string, v: number): Hex => `0x${r}${s}${v.toString(16).padStart(2, '0')}`;
const flip = (v: number) => (v === 27 ? 28 : 27);
const withR = (r: bigint) => (signature: string) => join(word(r), sOf(signature), vOf(signature));
const withS = (s: bigint) => (signature: string) => join(rOf(signature), word(s), vOf(signature));
const withV = (v: number) => (signature: string) => join(rOf(signature), sOf(signature), v);
const highS = (signature: string) => ORDER - BigInt(`0x${sOf(signature)}`);

/** The compact form: the recovery bit stands in the highest bit of `s`. */
function toCompact(signature: string): string {
  const bit = BigInt(vOf(signature) - 27) << 255n;
  return `0x${rOf(signature)}${word(BigInt(`0x${sOf(signature)}`) | bit)}`;
}

/** An ASN.1 DER sequence of the two integers, as OpenSSL writes it. */
function toDer(signature: string): string {
  const integer = (hex: string) => {
    const digits = BigInt(`0x${hex}`).toString(16);
    const whole = digits.length % 2 === 1 ? `0${digits}` : digits;
    const signed = Number.parseInt(whole.slice(0, 2), 16) > 127 ? `00${whole}` : whole;
    return `02${(signed.length / 2).toString(16).padStart(2, '0')}${signed}`;
  };
  const body = integer(rOf(signature)) + integer(sOf(signature));
  return `0x30${(body.length / 2).toString(16)}${body}`;
}

const toBase64 = (signature: Hex) => Buffer.from(hexToBytes(signature)).toString('base64');

const form = (name: string, signature: Case['signature'] & object, note?: string): Case => ({
  name,
  expected: 'signature',
  signature,
  ...(note && { note }),
});

/** Calls that are signed over the right text, in a form that is refused. */
export const SIGNATURE_FORM_CASES: readonly Case[] = [
  { name: 'no signature', expected: 'signature', headers: { signature: null } },
  form('an empty signature', () => ''),
  form('a signature of 0x alone', () => '0x'),
  form('a signature that is not hex', () => `0x${'zz'.repeat(65)}`),
  form('a signature without 0x', (signature) => signature.slice(2)),
  form('a signature one digit short', (signature) => signature.slice(0, -1)),
  form('a signature of 64 bytes, without its recovery value', (signature) => signature.slice(0, -2)),
  form('a signature of 64 bytes in the compact form of EIP-2098', toCompact),
  form('a signature of 66 bytes', (signature) => `${signature}00`),
  form('a signature with a zero byte in front', (signature) => `0x00${signature.slice(2)}`),
  form('a signature in DER', toDer),
  form('a signature in base64', toBase64),
  form(
    'a signature sent twice',
    (signature) => `${signature}, ${signature}`,
    'HTTP joins the values of a repeated header.',
  ),
  form(
    'a high s with its matching recovery value',
    (signature) => join(rOf(signature), word(highS(signature)), flip(vOf(signature))),
    'It recovers to the right address: the other form of the same signature.',
  ),
  form('a high s with the recovery value of the low one', (signature) => withS(highS(signature))(signature)),
  form('an r of 0', withR(0n)),
  form('an s of 0', withS(0n)),
  form('65 bytes of 0', () => `0x${'00'.repeat(65)}`),
  form('an r of the group order', withR(ORDER)),
  form('an s of the group order', withS(ORDER)),
  form('an r of 2^256-1', withR(2n ** 256n - 1n)),
  form('an s of 2^256-1', withS(2n ** 256n - 1n)),
  form('an r that is no point of the curve', withR(5n)),
  form('an s that differs in one bit', (signature) => withS(BigInt(`0x${sOf(signature)}`) ^ 1n)(signature)),
  ...[2, 3, 26, 29, 30, 35, 36, 255].map((v) => form(`a recovery value of ${v}`, withV(v))),
  form('the other recovery value', (signature) => withV(flip(vOf(signature)))(signature)),
  { name: 'no address', expected: 'signature', headers: { address: null } },
  ...[
    ['an empty address', ''],
    ['an address without 0x', 'f39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    ['an address of 39 digits', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb9226'],
    ['an address of 41 digits', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb922660'],
    ['an address of 32 bytes', '0x000000000000000000000000f39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    ['an address that is not hex', '0xg39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    ['a name in place of an address', 'relayer.eth'],
    ['the zero address', `0x${'0'.repeat(40)}`],
  ].map(([name, address]) => ({ name, expected: 'signature', headers: { address } }) as Case),
];
