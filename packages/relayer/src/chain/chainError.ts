/** The faults of a node's answer. */
type ChainErrorCode = 'RPC_UNAVAILABLE' | 'RPC_ANSWER_INVALID' | 'WRONG_CHAIN' | 'WRONG_FORWARDER' | 'RATE_IMPLAUSIBLE';

/** A chain that did not answer, or not what was asked for. The message holds no URL. */
export class ChainError extends Error {
  override readonly name = 'ChainError';
  readonly code: ChainErrorCode;

  constructor(code: ChainErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
