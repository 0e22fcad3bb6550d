export type ObjectOperation = 'put' | 'get' | 'head' | 'delete';

/** One operation on one object. */
export interface SignOrder {
  readonly operation: ObjectOperation;
  /** Path in the bucket: `v1/{64 hex}/{32 hex}/{64 hex}`; no leading slash. */
  readonly objectPath: string;
  /** SHA-256 of the content, 32 bytes as lower-case hex, when a `put` must be bound to it; else absent. */
  readonly contentSha256?: string;
  /** Bytes that a `put` must bring, neither more nor fewer; absent: any number. */
  readonly size?: number;
  /** Start of the lifetime, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Lifetime in whole seconds, at least 1. */
  readonly lifetimeSeconds: number;
}

/** A presigned URL and what must go with it. */
export interface SignedOperation {
  readonly url: string;
  readonly method: 'PUT' | 'GET' | 'HEAD' | 'DELETE';
  /** Headers that must accompany the call; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** End of the lifetime, in milliseconds since the epoch: the signing second plus the lifetime. */
  readonly expiresAtMs: number;
}

/**
 * Port: makes one presigned URL for one operation on one object.
 *
 * @see docs/specification.md SIGN-1
 */
export interface ObjectSigner {
  /** @throws DependencyUnavailableError when the credentials cannot be had. */
  sign(order: SignOrder): Promise<SignedOperation>;
}
