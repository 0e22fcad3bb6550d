/** What can be wrong with a key. */
export type AccountErrorCode = 'INVALID_ARGUMENT' | 'KEYSTORE_INVALID' | 'KEYSTORE_PASSWORD_WRONG' | 'KMS_FAILED';

/** A key that cannot be opened. It says nothing of the key, nor of its password. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
  /** Stable; match by it, never by the message. */
  readonly code: AccountErrorCode;

  /**
   * @param code - what is wrong
   * @param message - one sentence: what was wrong, and what to do next; without secrets
   * @param options.cause - the error behind it
   */
  constructor(code: AccountErrorCode, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}
