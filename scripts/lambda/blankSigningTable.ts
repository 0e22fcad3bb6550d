/** x of secp256k1's generator, the two lowest of its 26-bit limbs, as the library keeps it: right behind the table. */
const GENERATOR_LIMBS = Buffer.from('9817f802c556a000', 'hex');
/** 64 rows of 16 points of 64 bytes. */
const TABLE_BYTES = 64 * 16 * 64;

/**
 * Blanks the table of multiples of the generator in libsecp256k1's wasm, which is what of it cannot be compressed. Only a context
 * for signing reads it, and this one is never made.
 *
 * @param wasm - the module as it comes in its package
 * @returns a copy of the same length, without the table
 * @throws Error if the module is laid out in another way
 * @see https://github.com/bitcoin-core/secp256k1 ecmult_gen_static_context.h
 */
export function blankSigningTable(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = Buffer.from(wasm);
  const generatorAt = copy.indexOf(GENERATOR_LIMBS);
  if (generatorAt < TABLE_BYTES || copy.lastIndexOf(GENERATOR_LIMBS) !== generatorAt) {
    throw new Error('libsecp256k1 is laid out in another way than before: find its table for signing anew.');
  }
  return Uint8Array.from(copy.fill(0, generatorAt - TABLE_BYTES, generatorAt));
}
