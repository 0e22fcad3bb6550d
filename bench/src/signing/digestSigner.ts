/** Signs a digest of 32 bytes: `r` and `s` as 128 hex digits, `s` in the lower half. */
export type DigestSigner = (
  digest: Uint8Array,
  privateKey: Uint8Array,
) => { readonly hex: string; readonly recovery: 0 | 1 };
