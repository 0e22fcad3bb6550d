import { GatewayError } from './gatewayError.ts';

/**
 * Makes the error for an answer that no gateway gives.
 *
 * @param what - the call in words, like `POST /requests`
 * @param lack - what the answer is not, like `JSON`
 */
export function unexpectedAnswer(what: string, lack: string, cause?: unknown): GatewayError {
  const message = `The answer to ${what} is no ${lack}. Is this the URL of a gateway?`;
  return new GatewayError({ code: 'UNEXPECTED_ANSWER', message, mayHaveHappened: true, cause });
}
