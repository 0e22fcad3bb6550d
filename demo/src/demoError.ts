/** The demo cannot go on; `message` says why, and what to look at. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
  readonly code: 'PROCESS_ENDED' | 'PROCESS_SILENT' | 'REQUESTS_OPEN' | 'REQUEST_FAILED' | 'INTERRUPTED';

  constructor(code: DemoError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
