/** The node answered with an error of its own. */
export class RpcAnswerError extends Error {
  override readonly name = 'RpcAnswerError';
  readonly code: number;
  readonly data: unknown;

  /**
   * @param answer - the `error` member of a JSON-RPC answer
   * @see https://www.jsonrpc.org/specification#error_object
   */
  constructor(answer: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(answer.message.slice(0, 500));
    this.code = answer.code;
    this.data = answer.data;
  }
}

/** No answer that means anything: unreachable, too slow, rate-limited, or nonsense. Says nothing about what the node did. */
export class RpcUnavailableError extends Error {
  override readonly name = 'RpcUnavailableError';
  /** When to ask again at the earliest, as the node says. */
  readonly retryAfterMs: number | undefined;

  /**
   * @param reason - a few words without the node's address
   * @param retryAfterMs - how long the node asks to be left alone
   */
  constructor(reason: string, retryAfterMs?: number) {
    super(reason);
    this.retryAfterMs = retryAfterMs;
  }
}
