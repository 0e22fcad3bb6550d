import { capFaults, type ErrorBody } from '@prism-gateway/protocol';
import { DependencyUnavailableError, TokenRejectedError } from '../ports/errors.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import { ApiError, dependencyUnavailable, unauthenticated, unexpected } from './errors.ts';

/** Reads any thrown thing as an `ApiError`; the unknown becomes one plain 500 that leaks nothing. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof TokenRejectedError) return unauthenticated(thrown.code, thrown.message);
  if (thrown instanceof DependencyUnavailableError) return dependencyUnavailable(thrown.dependency, thrown);
  return unexpected(thrown);
}

/**
 * Writes an error as the wire's `{ error, details? }`.
 *
 * @see docs/specification.md ERROR-1
 */
export function answerError(error: ApiError): Answer {
  const body: ErrorBody = { error: error.message };
  if (error.details !== undefined) body.details = [...capFaults(error.details)];
  const answer = jsonAnswer(error.status, body);
  return error.headers === undefined ? answer : { ...answer, headers: error.headers };
}
