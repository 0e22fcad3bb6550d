import {
  CONFLICT_REASONS,
  MAX_REQUEST_BATCH,
  parseClaimRequests,
  parseReportRequests,
  parseRequestId,
} from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import type { Examples } from '../../openapi/document.ts';
import { bodyFaultsExample, errorExample, faultsExample } from '../../openapi/examples/failures.ts';
import { EXAMPLE_REQUEST_ID, exampleHead, RECORD_EXAMPLES } from '../../openapi/examples/successes.ts';
import { jsonBody, REQUEST_ID_PARAMETER } from '../../openapi/parts/parameters.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import { ClaimNotOwnedError, RequestNotClaimedError, RequestNotFoundError } from '../../requests/errors.ts';

const OTHER_REQUEST_ID = '0197c2a4-5b1e-7c3d-8f60-0242ac120003';
const TX_HASH = '0x8f3f7c1d5f0b9ce3c4c1c2a83f0d4fb2a9e6b7d05c1e4f8a7b6d3c2e1f0a9b8c';

const CLAIMS: Examples = {
  byIds: { summary: 'These two', value: { requestIds: [EXAMPLE_REQUEST_ID, OTHER_REQUEST_ID] } },
};

const REPORTS: Examples = {
  both: {
    summary: 'One success, one failure',
    value: {
      reports: [
        { requestId: EXAMPLE_REQUEST_ID, status: 'success', txHash: TX_HASH },
        { requestId: OTHER_REQUEST_ID, status: 'failed', errorMessage: 'execution reverted: InsufficientBalance' },
      ],
    },
  },
};

/** One request was moved, the other one was not. */
const answer = (summary: string, status: 'processing' | 'success') => ({
  summary,
  value: {
    items: [exampleHead('WRITE_DATA_FOR', status)],
    count: 1,
    conflicts: [{ requestId: OTHER_REQUEST_ID, status: 'success', reason: 'ended' }],
  },
});

const REASONS = Object.entries(CONFLICT_REASONS).map(([reason, meaning]) => `- \`${reason}\`: ${meaning}`);

const ANSWERED = `Every entry is in \`items\` or in \`conflicts\`, which says why:

${REASONS.join('\n')}

Records come without their \`params\`.`;

const CLAIM_DESCRIPTION = `Claims up to ${MAX_REQUEST_BATCH} requests by one call and one signature, each as atomically as a \`PATCH\`: of any number of rivals one wins each request. A request that the relayer holds already gets its lease renewed, and is among the \`items\`. A relayer may hold a number of requests at once (\`MAX_OPEN_CLAIMS\`), and each for a bounded time (\`MAX_CLAIM_SECONDS\`).

${ANSWERED}`;

const REPORT_DESCRIPTION = `Reports how up to ${MAX_REQUEST_BATCH} requests ended, by one call and one signature. Each entry takes the fields of a \`PATCH\` that reports. One entry that is not valid makes the call a 400 as a whole, and nothing is changed; a conflict only concerns its own entry.

${ANSWERED}`;

/** Describes `POST /requests/claims`. */
export function describeClaimRequests(): RouteDescription {
  const refused = (summary: string, body: unknown) =>
    bodyFaultsExample(summary, JSON.stringify(body), parseClaimRequests);
  return {
    tag: TAGS.requests,
    summary: 'Claim many requests',
    description: CLAIM_DESCRIPTION,
    requestBody: jsonBody('ClaimRequestsBody', 'Which requests', CLAIMS),
    success: {
      description: 'What the relayer holds now, and what it does not.',
      schema: 'RequestBatch',
      examples: { claimed: answer('One of two', 'processing') },
    },
    failures: {
      400: {
        description: 'The body is not valid; nothing was changed.',
        examples: {
          none: refused('No requests', { requestIds: [] }),
          twice: refused('One request twice', { requestIds: [EXAMPLE_REQUEST_ID, EXAMPLE_REQUEST_ID] }),
        },
      },
    },
  };
}

/** Describes `POST /requests/reports`. */
export function describeReportRequests(): RouteDescription {
  const refused = (summary: string, body: unknown) =>
    bodyFaultsExample(summary, JSON.stringify(body), parseReportRequests);
  return {
    tag: TAGS.requests,
    summary: 'Report how many requests ended',
    description: REPORT_DESCRIPTION,
    requestBody: jsonBody('ReportRequestsBody', 'The reports', REPORTS),
    success: {
      description: 'What has ended, and what could not be reported on.',
      schema: 'RequestBatch',
      examples: { reported: answer('One of two', 'success') },
    },
    failures: {
      400: {
        description: 'An entry is not valid; nothing was changed.',
        examples: {
          noTxHash: refused('Success without its transaction', {
            reports: [{ requestId: EXAMPLE_REQUEST_ID, status: 'success' }],
          }),
        },
      },
    },
  };
}

/** Describes `POST /requests/{requestId}/release`. */
export function describeReleaseRequest(): RouteDescription {
  return {
    tag: TAGS.requests,
    summary: 'Give a claimed request back',
    description:
      'The relayer that holds a request gives it back: it is `pending` again, and nothing of the claim stays. With the `claimedAt` of the claim that is meant, the call gives back no later one, whoever sends it again.',
    parameters: [REQUEST_ID_PARAMETER],
    requestBody: {
      ...jsonBody('ReleaseRequestBody', 'The claim that is meant; no body: whichever stands', {
        claim: { summary: 'This claim', value: { claimedAt: '2026-01-01T00:00:04.500Z' } },
      }),
      required: false,
    },
    success: {
      description: 'The whole record, pending again.',
      schema: 'RequestRecord',
      examples: { pending: RECORD_EXAMPLES.pending },
    },
    failures: {
      400: {
        description: 'The id is not a UUID.',
        examples: { notUuid: faultsExample('Not a UUID', parseRequestId('42')) },
      },
      404: {
        description: 'There is no such request.',
        examples: { unknown: errorExample('An unknown id', new RequestNotFoundError(EXAMPLE_REQUEST_ID)) },
      },
      409: {
        description: 'The relayer does not hold it; nothing was changed.',
        examples: {
          notClaimed: errorExample('Nobody holds it', new RequestNotClaimedError({ status: 'pending' }, 'pending')),
          notOwner: errorExample(
            'Another relayer holds it',
            new ClaimNotOwnedError({ status: 'processing' }, 'pending'),
          ),
        },
      },
    },
  };
}
