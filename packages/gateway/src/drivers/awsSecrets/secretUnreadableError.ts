/** A secret could not be read: it is not there, not ours to read, or its keeper does not answer. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError';
  readonly code = 'SECRET_UNREADABLE';
  /** Whether trying again is of no use. */
  readonly isLasting: boolean;

  constructor(arn: string, why: string, options: { readonly isLasting: boolean; readonly cause?: unknown }) {
    super(`${arn} could not be read: ${why}.`, { cause: options.cause });
    this.isLasting = options.isLasting;
  }
}
