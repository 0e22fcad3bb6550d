/** What went wrong with a call to the gateway, as a program matches it. */
export type GatewayErrorCode =
  /** 400: `details` names each fault. */
  | 'VALIDATION_FAILED'
  /** 401: the key, token or signature was not accepted. */
  | 'UNAUTHORISED'
  /** 403: a presigned URL was refused. */
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  /** 409: the request is not in the state that the call needs, or another relayer holds it. */
  | 'CONFLICT'
  | 'BODY_TOO_LARGE'
  /** 429: `retryAfterMs` says when to come again. */
  | 'RATE_LIMITED'
  /** 5xx: try again later. */
  | 'UNAVAILABLE'
  /** No answer, or only a part of one. */
  | 'NETWORK_FAILED'
  /** The caller's `AbortSignal` fired. */
  | 'ABORTED'
  /** `waitForRequest` ran out of its time; the request itself goes on. */
  | 'WAIT_TIMED_OUT'
  /** An answer that no gateway gives: is the URL right? */
  | 'UNEXPECTED_ANSWER';

/** One fault of a refused body or query. */
export interface GatewayFault {
  /** Like `params.dataIds[2]`. */
  readonly path: string;
  readonly message: string;
}

/** What a gateway error is built from. */
export interface GatewayErrorFacts {
  readonly code: GatewayErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly details?: readonly GatewayFault[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly mayHaveHappened?: boolean;
  readonly cause?: unknown;
}

/**
 * A call to the gateway failed. Match by `code`; the message is for people, and holds no key, token, signature or presigned URL.
 *
 * @see docs/specification.md ERROR-1
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  declare readonly code: GatewayErrorCode;
  /** HTTP status, where there was an answer. */
  declare readonly status: number | undefined;
  /** Every fault of a body or query that was not valid; else empty. */
  declare readonly details: readonly GatewayFault[];
  /** How long the gateway asks to wait, in milliseconds. */
  declare readonly retryAfterMs: number | undefined;
  /** The answer's `X-Request-Id`: what an operator finds the call by. */
  declare readonly requestId: string | undefined;
  /** Whether the gateway may have done what was asked all the same: true where the answer was lost. */
  declare readonly mayHaveHappened: boolean;

  constructor({ message, cause, details = [], mayHaveHappened = false, ...facts }: GatewayErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { details, mayHaveHappened, ...facts });
  }
}

/** Tells whether a caught value is a `GatewayError` of one of some codes. */
export function isGatewayError(error: unknown, ...codes: readonly GatewayErrorCode[]): error is GatewayError {
  return error instanceof GatewayError && (codes.length === 0 || codes.includes(error.code));
}
