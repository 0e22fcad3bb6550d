import { createHash } from 'node:crypto';
import {
  CompressionFlag,
  ContextFlag,
  instantiateSecp256k1WasmBytes,
} from '@bitauth/libauth/build/lib/bin/secp256k1/secp256k1-wasm.js';
import { readLibsecp256k1 } from '@prism-gateway/gateway/bundling';
import { expect, it } from 'vitest';
import { blankSigningTable } from './blankSigningTable.ts';

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Makes a key's signature with the whole library, and recovers the key with another copy of it. */
async function recoverWith(
  wasm: Uint8Array<ArrayBuffer>,
  seed: string,
): Promise<{ signer: string; recovered: string }> {
  const whole = await instantiateSecp256k1WasmBytes(readLibsecp256k1().buffer);
  const both = whole.contextCreate(ContextFlag.BOTH);
  const [secretAt, digestAt] = [digestOf(`key ${seed}`), digestOf(seed)].map((bytes) => whole.mallocUint8Array(bytes));
  if (secretAt === undefined || digestAt === undefined) throw new Error('two were asked for');
  const [signatureAt, compactAt, idAt, keyAt, outAt] = [65, 64, 4, 64, 65].map((size) => whole.malloc(size));
  if (!signatureAt || !compactAt || !idAt || !keyAt || !outAt) throw new Error('there is memory for it');
  whole.signRecoverable(both, signatureAt, digestAt, secretAt);
  whole.recoverableSignatureSerialize(both, compactAt, idAt, signatureAt);
  whole.pubkeyCreate(both, keyAt, secretAt);
  whole.pubkeySerialize(both, outAt, whole.mallocSizeT(65), keyAt, CompressionFlag.UNCOMPRESSED);
  const signer = Buffer.from(whole.heapU8.slice(outAt, outAt + 65)).toString('hex');

  const other = await instantiateSecp256k1WasmBytes(wasm.buffer);
  const context = other.contextCreate(ContextFlag.VERIFY);
  const compact = other.mallocUint8Array(whole.heapU8.slice(compactAt, compactAt + 64));
  const parsed = other.malloc(65);
  other.recoverableSignatureParse(context, parsed, compact, whole.heapU32[idAt >> 2] === 0 ? 0 : 1);
  const found = other.malloc(64);
  other.recover(context, found, parsed, other.mallocUint8Array(digestOf(seed)));
  const out = other.malloc(65);
  other.pubkeySerialize(context, out, other.mallocSizeT(65), found, CompressionFlag.UNCOMPRESSED);
  return { signer, recovered: Buffer.from(other.heapU8.slice(out, out + 65)).toString('hex') };
}

it('recovers without the table what was signed with it', async () => {
  const wasm = blankSigningTable(readLibsecp256k1());
  for (const seed of ['one', 'two', 'three']) {
    const { signer, recovered } = await recoverWith(wasm, seed);
    expect(signer).toMatch(/^04[0-9a-f]{128}$/);
    expect(recovered).toBe(signer);
  }
});

it('blanks nothing but the table', () => {
  const [before, after] = [readLibsecp256k1(), blankSigningTable(readLibsecp256k1())];
  const changed = Array.from(before.keys()).filter((at) => before[at] !== after[at]);
  expect(after).toHaveLength(before.length);
  expect((changed.at(-1) ?? 0) - (changed[0] ?? 0)).toBeLessThan(65_536);
  expect(changed.length).toBeGreaterThan(0);
  expect(changed.filter((at) => after[at] !== 0)).toEqual([]);
});

it('refuses a module that is laid out otherwise', () => {
  expect(() => blankSigningTable(new Uint8Array(100_000))).toThrow(/laid out in another way/);
});
