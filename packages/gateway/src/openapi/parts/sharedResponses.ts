import { bodyTooLarge, dependencyUnavailable, notJson, unexpected } from '../../http/errors.ts';
import type { ResponseObject } from '../document.ts';
import { errorExample } from '../examples/errorExample.ts';
import { describeFailure } from './failure.ts';
import { headerRefs, LIMIT_HEADERS } from './headers.ts';

/**
 * Describes the failing answers that are the same on many routes.
 *
 * @param limits.maxBodyBytes - limit of a body, in bytes
 * @returns responses by their names in the components
 */
export function createSharedResponses(limits: { readonly maxBodyBytes: number }) {
  return {
    BodyTooLarge: describeFailure({
      description: `The body has more than ${limits.maxBodyBytes} bytes.`,
      headers: LIMIT_HEADERS,
      examples: { tooLarge: errorExample('A body over the limit', bodyTooLarge(limits.maxBodyBytes)) },
    }),
    UnsupportedMediaType: describeFailure({
      description: 'The `Content-Type` of the body is not a JSON one.',
      headers: LIMIT_HEADERS,
      examples: { notJson: errorExample('Content-Type: text/plain', notJson()) },
    }),
    Unexpected: describeFailure({
      description: 'Something went wrong inside. The log has it under the `X-Request-Id`.',
      headers: LIMIT_HEADERS,
      examples: { unexpected: errorExample('Nothing inside is told', unexpected(undefined)) },
    }),
    StoreUnavailable: describeFailure({
      description: 'The store did not answer. Whether a write took place is unknown; reading the record tells.',
      headers: { ...LIMIT_HEADERS, ...headerRefs('Retry-After') },
      examples: { store: errorExample('The store is down', dependencyUnavailable('store', undefined)) },
    }),
  } as const satisfies Readonly<Record<string, ResponseObject>>;
}
