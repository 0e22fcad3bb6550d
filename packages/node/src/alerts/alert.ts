/** Something that a person should know. */
export interface Alert {
  /** Stable; for filters and counts. */
  readonly code: string;
  readonly severity: 'info' | 'warning' | 'critical';
  /** One line. */
  readonly subject: string;
  /** The event and the advice; without secrets. */
  readonly text: string;
}

/** A way to reach people. */
export interface AlertChannel {
  readonly name: 'e-mail' | 'chat' | 'webhook';
  /**
   * Delivers an alert, once.
   *
   * @param alert - without secrets
   * @throws whatever went wrong
   */
  deliver(alert: Alert, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Alerts people, and never keeps anyone waiting. */
export interface Alerter {
  /** Returns at once. @param alert - what to send */
  raise(alert: Alert): void;
  /** For what keeps alerts from being written down: it is sent while this process runs. @param alert - what to send */
  notify(alert: Alert): void;
  /** Waits until all that was raised is delivered, or the time is over. */
  drain(timeoutMs: number): Promise<void>;
  close(): void;
}

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
