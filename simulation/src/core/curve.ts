import { createRequire } from 'node:module';

/** The watched functions of the package `secp256k1`. */
interface Curve {
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { readonly signature: Uint8Array; readonly recid: number };
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, isCompressed: boolean): Uint8Array;
  publicKeyCreate(key: Uint8Array, isCompressed: boolean): Uint8Array;
}

/** Signatures whose keys are kept; when there are more, all are forgotten. */
const MAX_KEPT = 20_000;

/**
 * Remembers who signed what: a signature is recovered by everybody who meets it, again and again, and it is always the same key.
 *
 * @returns puts the package's own functions back
 */
export function installCurve(): () => void {
  const require = createRequire(import.meta.url);
  const curve = require('secp256k1/bindings.js') as Curve;
  const { ecdsaSign, ecdsaRecover } = curve;
  const signers = new Map<string, Uint8Array>();
  const publicKeys = new Map<string, Uint8Array>();
  const textOf = (...parts: readonly Uint8Array[]) => Buffer.concat(parts).toString('latin1');

  function keep(text: string, publicKey: Uint8Array): void {
    if (signers.size >= MAX_KEPT) signers.clear();
    signers.set(text, publicKey);
  }

  curve.ecdsaSign = (digest, key) => {
    const signed = ecdsaSign(digest, key);
    const name = textOf(key);
    const publicKey = publicKeys.get(name) ?? curve.publicKeyCreate(key, false);
    publicKeys.set(name, publicKey);
    keep(`${signed.recid}${textOf(signed.signature, digest)}`, publicKey);
    return signed;
  };
  curve.ecdsaRecover = (signature, recovery, digest, isCompressed) => {
    if (isCompressed) return ecdsaRecover(signature, recovery, digest, true);
    const text = `${recovery}${textOf(signature, digest)}`;
    const known = signers.get(text);
    // Whoever gets it may change it.
    if (known !== undefined) return known.slice();
    const found = ecdsaRecover(signature, recovery, digest, false);
    keep(text, found.slice());
    return found;
  };
  return () => void Object.assign(curve, { ecdsaSign, ecdsaRecover });
}
