/** What is wrong with an object, or with the key to it, as a program matches it. */
export type StorageErrorCode =
  /** What came is not what the key names: altered or mixed up on its way or in the store. */
  | 'CONTENT_MISMATCH'
  /** The object was encrypted with another key, or altered. */
  | 'DECRYPTION_FAILED'
  /** The object is not in a form that this version reads. */
  | 'UNKNOWN_FORMAT'
  /** The encryption key is not a 256-bit AES-GCM key. */
  | 'INVALID_ENCRYPTION_KEY';

const sentences: Readonly<Record<StorageErrorCode, string>> = {
  CONTENT_MISMATCH: 'The content that came does not hash to its key.',
  DECRYPTION_FAILED: 'The object was encrypted with another key, or altered.',
  UNKNOWN_FORMAT: 'The object is in no form that this SDK reads.',
  INVALID_ENCRYPTION_KEY: 'The encryption key must be 32 bytes, or a CryptoKey for AES-GCM.',
};

/** Stored content or its key was not as it must be. Calls that fail are a `GatewayError`. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, options?: { readonly cause?: unknown }) {
    super(sentences[code], options);
    this.code = code;
  }
}
