/** What the presigner process can be asked. */
export type PresignerCalls = {
  /** Presigns so many puts one after another; gives presigned URLs a second. */
  presign: { params: { readonly count: number }; result: number };
  /** The same with the gateway's own signer. */
  sign: { params: { readonly count: number }; result: number };
};
