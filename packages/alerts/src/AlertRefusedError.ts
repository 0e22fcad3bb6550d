/** An alert that a service did not take. */
export class AlertRefusedError extends Error {
  override readonly name = 'AlertRefusedError';
  readonly code = 'ALERT_REFUSED';
  readonly status: number;
  /** When to try again at the earliest, as the service says; in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(answer: { readonly status: number; readonly retryAfterMs?: number | undefined }) {
    super(`The chat service answered with status ${answer.status}.`);
    this.status = answer.status;
    this.retryAfterMs = answer.retryAfterMs;
  }
}
