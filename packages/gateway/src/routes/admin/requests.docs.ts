import {
  listAllRequestsFields,
  parseFailRequest,
  parseListAllRequests,
  parseRequestId,
  type RequestPurged,
} from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import { schemaRef } from '../../openapi/document.ts';
import { bodyFaultsExample, errorExample, faultsExample } from '../../openapi/examples/failures.ts';
import { EXAMPLE_REQUEST_ID, exampleRecord, RECORD_EXAMPLES } from '../../openapi/examples/successes.ts';
import { jsonBody, LIST_PARAMETERS, REQUEST_ID_PARAMETER } from '../../openapi/parts/parameters.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import { RequestHeldError, RequestNotReopenableError } from '../../requests/administer.ts';
import { RequestNotClaimedError, RequestNotFoundError } from '../../requests/errors.ts';

const HOLDER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const PURGED: RequestPurged = { message: 'The request is removed for good.', requestId: EXAMPLE_REQUEST_ID };

const notFound = {
  description: 'There is no such request.',
  examples: { unknown: errorExample('An unknown id', new RequestNotFoundError(EXAMPLE_REQUEST_ID)) },
};

const notUuid = { notUuid: faultsExample('Not a UUID', parseRequestId('42')) };

/** Shared by the acts on one request. */
function describeAct(conflict: unknown) {
  return {
    tag: TAGS.administration,
    parameters: [REQUEST_ID_PARAMETER],
    failures: {
      400: { description: 'The id is not a UUID.', examples: notUuid },
      404: notFound,
      409: {
        description: 'The request is in another state; nothing was changed.',
        examples: { state: errorExample('Another state', conflict) },
      },
    },
  };
}

/** Describes `GET /admin/requests`. */
export function describeListAllRequests(): RouteDescription {
  const refused = parseListAllRequests(new URLSearchParams('relayer=0x12&status=open'));
  const { relayer } = listAllRequestsFields;
  const parameters = LIST_PARAMETERS.map((one) => ({
    ...one,
    // Whoever has the key needs no proof beside it.
    description: one.description.replace(/ (Public when|Needs relayer).*$/, ''),
  }));
  return {
    tag: TAGS.administration,
    summary: 'List any requests',
    description:
      'The filters of `GET /requests`, `relayer` and `txHash`; several must all hold, and none is needed. A page may be short, even empty, before the last.',
    parameters: [
      ...parameters,
      {
        name: 'relayer',
        in: 'query',
        description: 'Only requests that this relayer holds or held, in any letter case.',
        required: relayer.type !== 'optional',
        schema: schemaRef('Address'),
        example: HOLDER,
      },
      {
        name: 'txHash',
        in: 'query',
        description: 'Only requests that were reported with this transaction, in any letter case.',
        schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
      },
      {
        ...{ name: 'from', in: 'query', description: 'Only requests that were stored at this time or later.' },
        schema: { type: 'string', format: 'date-time' },
      },
      {
        ...{ name: 'to', in: 'query', description: 'Only requests that were stored before this time.' },
        schema: { type: 'string', format: 'date-time' },
      },
    ],
    success: {
      description: 'One page.',
      schema: 'RequestPage',
      examples: {
        last: {
          summary: 'The last page',
          value: { items: [exampleRecord('WRITE_DATA_FOR', 'processing')], count: 1, lastKey: null },
        },
      },
    },
    failures: {
      400: {
        description: 'The query is not valid.',
        examples: { everyFault: faultsExample('Several faults, each named', refused) },
      },
    },
  };
}

/** Describes `POST /admin/requests/{requestId}/fail`. */
export function describeFailRequest(): RouteDescription {
  const act = describeAct(new RequestNotClaimedError({ status: 'pending' }, 'failed'));
  const refused = bodyFaultsExample('No reason', '{"errorMessage":""}', parseFailRequest);
  return {
    ...act,
    summary: 'End a claimed request as failed',
    description:
      'In its owner’s stead, whoever that is: for one that its relayer will never report. A report of that relayer is 409 from then on.',
    requestBody: jsonBody('FailRequestBody', 'Why', {
      reason: { summary: 'The reason, which the user sees', value: { errorMessage: 'the relayer is gone' } },
    }),
    success: {
      description: 'The whole record, failed.',
      schema: 'RequestRecord',
      examples: { failed: RECORD_EXAMPLES.failed },
    },
    failures: {
      ...act.failures,
      400: { description: 'The id or the body is not valid.', examples: { ...notUuid, noReason: refused } },
    },
  };
}

/** Describes `POST /admin/requests/{requestId}/release`. */
export const describeReleaseClaim = (): RouteDescription => ({
  ...describeAct(new RequestNotClaimedError({ status: 'pending' }, 'pending')),
  summary: 'Give a claimed request back',
  description: 'In its owner’s stead, whoever that is. The call has no body.',
  success: {
    description: 'The whole record, pending again.',
    schema: 'RequestRecord',
    examples: { pending: RECORD_EXAMPLES.pending },
  },
});

/** Describes `POST /admin/requests/{requestId}/reopen`. */
export const describeReopenRequest = (): RouteDescription => ({
  ...describeAct(new RequestNotReopenableError({ status: 'failed', claimedBy: HOLDER })),
  summary: 'Reopen a request that was falsely reported failed',
  description:
    'Of a relayer that has been suspended since: the record is pending again, without claim and errorMessage, so that another relayer may carry it out. The call has no body.',
  success: {
    description: 'The whole record, pending again.',
    schema: 'RequestRecord',
    examples: { pending: RECORD_EXAMPLES.pending },
  },
});

/** Describes `DELETE /admin/requests/{requestId}`. */
export const describePurgeRequest = (): RouteDescription => ({
  ...describeAct(new RequestHeldError()),
  summary: 'Remove a request for good',
  description: 'In any state but `processing`: what a relayer may be submitting is released or failed first.',
  success: {
    description: 'It is there no more.',
    schema: 'RequestPurged',
    examples: { removed: { summary: 'Removed', value: PURGED } },
  },
});
