/** What can go wrong with a call to the frontend. */
export type FrontendErrorCode = 'FRONTEND_UNAVAILABLE' | 'FRONTEND_REFUSED' | 'FRONTEND_NONSENSE';

/** A call to the frontend without a usable answer; of a claim or a completion it is not known whether it was done. */
export class FrontendError extends Error {
  override readonly name = 'FrontendError';
  readonly code: FrontendErrorCode;

  /**
   * @param code - `FRONTEND_UNAVAILABLE`: no answer, or 5xx; `FRONTEND_REFUSED`: 401 and other 4xx; `FRONTEND_NONSENSE`: not what was agreed
   * @param facts - which call, and what was seen
   */
  constructor(
    code: FrontendErrorCode,
    facts: { readonly call: string; readonly seen: string; readonly cause?: unknown },
  ) {
    super(`${facts.call}: ${facts.seen}.`, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
  }
}
