import type { Fault } from '@prism-gateway/protocol';

/** An HTTP request that the development issuer refuses; `createDevIssuer` turns it into `{ error, details? }`. */
export class RefusalError extends Error {
  override readonly name = 'RefusalError';
  readonly code = 'DEV_ISSUER_REFUSAL';
  readonly status: number;
  readonly details: readonly Fault[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param sentence - for the caller
   * @param facts - `status`: 4xx; `details` of a validation error; `headers` that the status asks for
   */
  constructor(
    sentence: string,
    facts: {
      readonly status: number;
      readonly details?: readonly Fault[];
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) {
    super(sentence);
    this.status = facts.status;
    this.details = facts.details;
    this.headers = facts.headers ?? {};
  }
}
