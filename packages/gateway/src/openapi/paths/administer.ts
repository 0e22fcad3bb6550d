import {
  listAllRequestsFields,
  parseFailRequest,
  parseListAllRequests,
  parseRequestId,
  type RequestPurged,
} from '@prism-gateway/protocol';
import type { QueueStats } from '../../ports/adminStore.ts';
import { RequestHeldError, RequestNotReopenableError } from '../../requests/administer.ts';
import { RequestNotClaimedError, RequestNotFoundError } from '../../requests/errors.ts';
import { renderStats } from '../../routes/admin/stats.ts';
import { describeRoute, type RouteDescription } from '../describeRoute.ts';
import { type Paths, schemaRef } from '../document.ts';
import { bodyFaultsExample, createAdminFailures, errorExample, faultsExample } from '../examples/failures.ts';
import { EXAMPLE_REQUEST_ID, exampleRecord, RECORD_EXAMPLES } from '../examples/successes.ts';
import { jsonBody, LIST_PARAMETERS, REQUEST_ID_PARAMETER } from '../parts/parameters.ts';
import { TAGS } from '../text/descriptions.ts';
import { BESIDE_STATS, describeOperator, STATS_PARAMETERS, STATS_REFUSED } from './operator.ts';

const HOLDER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const NOON = Date.parse('2026-01-01T12:00:00.000Z');

const STATS: QueueStats = {
  chains: [{ chainName: 'eip155:31337', pending: 12, processing: 3, success: 870, failed: 4 }],
  oldestPendingAt: NOON - 42_000,
  oldestProcessingAt: NOON - 55_000,
  minutes: [{ start: NOON, posts: 9, claims: 8, success: 7, failed: 0 }],
  hours: [{ start: NOON, posts: 9, claims: 8, success: 7, failed: 0 }],
  relayers: [
    {
      ...{ address: HOLDER, openClaims: 3, success: 870, failed: 4, conflicts: 2 },
      ...{ medianMs: 13_777, p95Ms: 31_042, lastSeenAt: NOON + 7000 },
    },
  ],
};

const PURGED: RequestPurged = { message: 'The request is removed for good.', requestId: EXAMPLE_REQUEST_ID };

const unauthorized = () => ({ description: 'The key is missing or wrong.', examples: createAdminFailures() });

const notFound = {
  description: 'There is no such request.',
  examples: { unknown: errorExample('An unknown id', new RequestNotFoundError(EXAMPLE_REQUEST_ID)) },
};

const notUuid = { notUuid: faultsExample('Not a UUID', parseRequestId('42')) };

/** Shared by the acts on one request. */
function describeAct(
  conflict: unknown,
): Pick<RouteDescription, 'tag' | 'parameters'> & { readonly failures: RouteDescription['failures'] } {
  return {
    tag: TAGS.administration,
    parameters: [REQUEST_ID_PARAMETER],
    failures: {
      400: { description: 'The id is not a UUID.', examples: notUuid },
      401: unauthorized(),
      404: notFound,
      409: {
        description: 'The request is in another state; nothing was changed.',
        examples: { state: errorExample('Another state', conflict) },
      },
    },
  };
}

function describeList(): Paths {
  const refused = parseListAllRequests(new URLSearchParams('relayer=0x12&status=open'));
  const { relayer } = listAllRequestsFields;
  const parameters = LIST_PARAMETERS.map((one) => ({
    ...one,
    // Whoever has the key needs no proof beside it.
    description: one.description.replace(/ (Public when|Needs relayer).*$/, ''),
  }));
  return describeRoute('listAllRequests', {
    tag: TAGS.administration,
    summary: 'List any requests',
    description:
      'The filters of `GET /requests`, `relayer` and `txHash`; several must all hold, and none is needed. By `txHash` alone the successful ones are looked through, a thousand at a call; `order=desc` begins with the newest. A page may be short, even empty, before the last.',
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
      401: unauthorized(),
    },
  });
}

function describeStats(): Paths {
  return describeRoute('readStats', {
    tag: TAGS.administration,
    summary: 'Look at the queue as a whole',
    description:
      'Requests by chain and status, the oldest ones, what happened by minute over the last hour and by hour over the last week, and how each relayer does. Parts without any activity are left out. Chains beyond the first 200 are counted together, with `chainName` null. With DynamoDB each process adds what it has counted every ten seconds. With `seen` and `wait` the answer comes once the stats are others. Beside them stands what the programs of the setting `STATUS_URLS` say of themselves, such as a relayer and the payment relayer, each with the JSON that it answers, or why there is none: they have three seconds.',
    parameters: STATS_PARAMETERS,
    success: {
      description: 'The queue at one look.',
      schema: 'QueueStats',
      examples: {
        stats: {
          summary: 'A queue at work, and two programs, one of which is down',
          value: { ...renderStats(STATS, () => new Uint8Array(32).fill(0x5a)), ...BESIDE_STATS },
        },
      },
    },
    failures: { 400: STATS_REFUSED, 401: unauthorized() },
  });
}

function describeFail(): Paths {
  const act = describeAct(new RequestNotClaimedError({ status: 'pending' }, 'failed'));
  const refused = bodyFaultsExample('No reason', '{"errorMessage":""}', parseFailRequest);
  return describeRoute('failRequest', {
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
  });
}

/** Describes what administrators see and do of the queue. */
export function describeAdministration(): Paths {
  const release = describeRoute('releaseClaim', {
    ...describeAct(new RequestNotClaimedError({ status: 'pending' }, 'pending')),
    summary: 'Give a claimed request back',
    description: 'In its owner’s stead, whoever that is. The call has no body.',
    success: {
      description: 'The whole record, pending again.',
      schema: 'RequestRecord',
      examples: { pending: RECORD_EXAMPLES.pending },
    },
  });
  const reopen = describeRoute('reopenRequest', {
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
  const purge = describeRoute('purgeRequest', {
    ...describeAct(new RequestHeldError()),
    summary: 'Remove a request for good',
    description: 'In any state but `processing`: what a relayer may be submitting is released or failed first.',
    success: {
      description: 'It is there no more.',
      schema: 'RequestPurged',
      examples: { removed: { summary: 'Removed', value: PURGED } },
    },
  });
  const path = '/admin/requests/{requestId}';
  return {
    ...describeList(),
    ...describeStats(),
    ...describeOperator(),
    ...release,
    ...describeFail(),
    ...reopen,
    [path]: { ...purge[path] },
  };
}
