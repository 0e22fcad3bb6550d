declare module 'secp256k1/bindings.js' {
  interface Secp256k1 {
    /** @throws Error when `r` or `s` is out of range or no point can be recovered */
    ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
  }
  const secp256k1: Secp256k1;
  export default secp256k1;
}
