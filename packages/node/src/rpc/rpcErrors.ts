/** Most characters of a node's words that are kept. */
const MAX_WORDS = 500;

/** The node answered a call with an error of its own. */
export class RpcAnswerError extends Error {
  override readonly name = 'RpcAnswerError';
  /** JSON-RPC's code of the error: -32601 and the like, or 3 for a revert. */
  readonly code: number;
  /** The data of the error; a revert's return data. */
  readonly data: unknown;

  /**
   * @param answer - the `error` member of a JSON-RPC answer
   * @see https://www.jsonrpc.org/specification#error_object
   */
  constructor(answer: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(answer.message.slice(0, MAX_WORDS));
    this.code = answer.code;
    this.data = answer.data;
  }
}

/**
 * Why there is no answer.
 *
 * - `RPC_UNAVAILABLE`: unreachable, too slow, rate-limited, or not JSON-RPC
 * - `RPC_ANSWER_TOO_LARGE`: longer than what is read; asking again would change nothing
 * - `RPC_ANSWER_INVALID`: an answer that is not what was asked for
 */
export type RpcFaultCode = 'RPC_UNAVAILABLE' | 'RPC_ANSWER_TOO_LARGE' | 'RPC_ANSWER_INVALID';

/** Statuses that are about who asks and how often, not about what is asked. */
const CALLER_STATUSES: readonly number[] = [401, 403, 408, 425, 429];

/** No answer that means anything. It says nothing about what the node did, and never names the node's URL. */
export class RpcUnavailableError extends Error {
  override readonly name = 'RpcUnavailableError';
  /** Stable; match by it, never by the message. */
  readonly code: RpcFaultCode;
  /** When to ask again at the earliest, as the node says, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;
  /** The HTTP status, when there was one. */
  readonly status: number | undefined;

  /**
   * @param reason - a few words without the node's address
   * @param facts.code - default `RPC_UNAVAILABLE`
   */
  constructor(
    reason: string,
    facts: {
      readonly code?: RpcFaultCode;
      readonly retryAfterMs?: number | undefined;
      readonly status?: number | undefined;
    } = {},
  ) {
    super(reason);
    this.code = facts.code ?? 'RPC_UNAVAILABLE';
    this.retryAfterMs = facts.retryAfterMs;
    this.status = facts.status;
  }
}

/** Whether a server refused what was asked (HTTP 400 and the like), rather than who asked, or anything at all. */
export function isRefusedRequest(error: unknown): error is RpcUnavailableError {
  if (!(error instanceof RpcUnavailableError) || error.status === undefined) return false;
  return error.status >= 400 && error.status < 500 && !CALLER_STATUSES.includes(error.status);
}
