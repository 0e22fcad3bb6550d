/** A dependency (store, identity provider, credentials) did not answer: 503 with `Retry-After`. */
export class DependencyUnavailableError extends Error {
  override readonly name = 'DependencyUnavailableError';
  readonly code = 'DEPENDENCY_UNAVAILABLE';
  /** Which one, in plain words: `store`, `identity provider`, `object store credentials`. */
  readonly dependency: string;

  constructor(dependency: string, options?: { cause?: unknown }) {
    super(`The ${dependency} did not answer.`, options);
    this.dependency = dependency;
  }
}

/** A bearer token was refused: 401. `message` is a sentence fit for the caller; it never holds the token. */
export class TokenRejectedError extends Error {
  override readonly name = 'TokenRejectedError';
  readonly code = 'TOKEN_REJECTED';
}

/** A position in a list that neither this deployment nor its store made, or made for another list. */
export class InvalidCursorError extends Error {
  override readonly name = 'InvalidCursorError';
  readonly code = 'INVALID_CURSOR';
  /** The parameter of the call that holds it. */
  readonly parameter: 'lastKey' | 'seen' | 'cursor';

  constructor(parameter: InvalidCursorError['parameter'] = 'lastKey', options?: { cause?: unknown }) {
    super('The position was not made here, or for another list.', options);
    this.parameter = parameter;
  }
}
