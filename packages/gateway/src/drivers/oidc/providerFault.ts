import { DependencyUnavailableError } from '../../ports/errors.ts';

/**
 * The one answer to everything that is the identity provider's fault or its configuration's: 503, never open.
 *
 * @param reason - what happened, for the log; it never holds a token, a secret or an answer's text
 * @param options - `cause`: the error underneath
 */
export function providerFault(reason: string, options?: { readonly cause?: unknown }): DependencyUnavailableError {
  return new DependencyUnavailableError('identity provider', { cause: new Error(reason, options) });
}
