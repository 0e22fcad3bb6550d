/** What the recovery process can be asked. */
export type RecoveryCalls = {
  /** Signs so many digests, then recovers each once; gives the recoveries a second. */
  recover: { params: { readonly count: number }; result: number };
};
