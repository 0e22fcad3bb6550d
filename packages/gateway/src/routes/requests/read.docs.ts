import { parseReadQuery, parseRequestId } from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import { errorExample, faultsExample } from '../../openapi/examples/failures.ts';
import { EXAMPLE_REQUEST_ID, RECORD_EXAMPLES } from '../../openapi/examples/successes.ts';
import { READ_PARAMETERS, REQUEST_ID_PARAMETER } from '../../openapi/parts/parameters.ts';
import { ASK_AGAIN_HEADER } from '../../openapi/parts/responses.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import { RequestNotFoundError } from '../../requests/errors.ts';

/** Describes `GET /requests/{requestId}`. */
export function describeReadRequest(): RouteDescription {
  return {
    tag: TAGS.requests,
    summary: 'Read a request',
    description:
      'The whole record, for anyone who knows its id. With `status` and `wait` the call waits until the status is another one than `status`, at most `wait` seconds, and answers with the record as it is then. A gateway that lets no call wait answers at once, and says in `Retry-After` when to ask again.',
    parameters: [REQUEST_ID_PARAMETER, ...READ_PARAMETERS],
    success: {
      description: 'The record.',
      schema: 'RequestRecord',
      examples: RECORD_EXAMPLES,
      headers: ASK_AGAIN_HEADER,
    },
    failures: {
      400: {
        description: 'The id is not a UUID, or the query is not valid.',
        examples: {
          notUuid: faultsExample('Not a UUID', parseRequestId('42')),
          longWait: faultsExample('Too long a wait', parseReadQuery(new URLSearchParams('status=pending&wait=60'))),
        },
      },
      404: {
        description: 'There is no such request.',
        examples: { unknown: errorExample('An unknown id', new RequestNotFoundError(EXAMPLE_REQUEST_ID)) },
      },
    },
  };
}
