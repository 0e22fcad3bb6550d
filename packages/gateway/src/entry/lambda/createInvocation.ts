/** The one call that an instance is answering; each call overwrites it. */
export interface Invocation {
  /** Lambda's id of the call, as in its own lines of the log. */
  awsRequestId: string;
  /** Base of the function's address as the caller knows it, without a trailing slash. */
  origin: string;
}

/** Makes the record for an instance that has not been called yet. */
export function createInvocation(): Invocation {
  return { awsRequestId: 'init', origin: '' };
}
