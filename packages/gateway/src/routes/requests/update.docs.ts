import { parseUpdateRequest } from '@prism-gateway/protocol';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import type { Examples } from '../../openapi/document.ts';
import { bodyFaultsExample, errorExample } from '../../openapi/examples/failures.ts';
import { EXAMPLE_REQUEST_ID, RECORD_EXAMPLES } from '../../openapi/examples/successes.ts';
import { jsonBody, REQUEST_ID_PARAMETER } from '../../openapi/parts/parameters.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import {
  ClaimNotOwnedError,
  RequestAlreadyClaimedError,
  RequestNotClaimedError,
  RequestNotFoundError,
  TooManyOpenClaimsError,
} from '../../requests/errors.ts';

const TX_HASH = '0x8f3f7c1d5f0b9ce3c4c1c2a83f0d4fb2a9e6b7d05c1e4f8a7b6d3c2e1f0a9b8c';

const BODIES: Examples = {
  processing: { summary: 'Claim it', value: { status: 'processing' } },
  success: { summary: 'Report success', value: { status: 'success', txHash: TX_HASH } },
  failed: {
    summary: 'Report failure',
    value: { status: 'failed', errorMessage: 'execution reverted: InsufficientBalance' },
  },
};

function invalidExamples(): Examples {
  const refused = (summary: string, body: unknown) =>
    bodyFaultsExample(summary, JSON.stringify(body), parseUpdateRequest);
  return {
    pending: refused('A state that nobody can ask for', { status: 'pending' }),
    noTxHash: refused('Success without its transaction', { status: 'success' }),
    wrongField: refused("Another state's field", { status: 'failed', errorMessage: 'out of gas', txHash: TX_HASH }),
  };
}

const CONFLICTS: Examples = {
  claimLost: errorExample('Another relayer was faster', new RequestAlreadyClaimedError({ status: 'processing' })),
  tooMany: errorExample('The relayer holds as many as it may', new TooManyOpenClaimsError(1000)),
  notClaimed: errorExample('A report without a claim', new RequestNotClaimedError({ status: 'pending' }, 'success')),
  notOwner: errorExample(
    "A report on another relayer's claim",
    new ClaimNotOwnedError({ status: 'processing' }, 'success'),
  ),
  ended: errorExample('It has ended already', new RequestNotClaimedError({ status: 'success' }, 'failed')),
};

const DESCRIPTION = `A relayer moves a request, by one atomic write:

| Asked | From | Takes | Who |
| --- | --- | --- | --- |
| \`processing\` (claim) | \`pending\` | nothing else | any whitelisted relayer; of any number of rivals exactly one wins |
| \`success\` | \`processing\` | \`txHash\` | the relayer that claimed it |
| \`failed\` | \`processing\` | \`errorMessage\`, 1 to 1000 Unicode code points | the relayer that claimed it |

Every other move is a 409 and changes nothing; \`success\` and \`failed\` are final. A field that belongs to another status is a 400.

A claim is a lease of \`CLAIM_LEASE_SECONDS\` (default 900; 0: it holds for ever). An older claim may be claimed again, and its first owner's report gets 409 from that moment on. Until somebody has claimed it again it is listed as \`processing\`, and its owner may still report.`;

/** Describes `PATCH /requests/{requestId}`. */
export function describeUpdateRequest(): RouteDescription {
  const { processing, success, failed } = RECORD_EXAMPLES;
  return {
    tag: TAGS.requests,
    summary: 'Claim a request, or report how it ended',
    description: DESCRIPTION,
    parameters: [REQUEST_ID_PARAMETER],
    requestBody: jsonBody('UpdateRequestBody', 'A claim, or a report', BODIES),
    success: {
      description: 'The whole record, moved.',
      schema: 'RequestRecord',
      examples: { processing, success, failed },
    },
    failures: {
      400: { description: 'The id or the body is not valid; nothing was changed.', examples: invalidExamples() },
      404: {
        description: 'There is no such request.',
        examples: { unknown: errorExample('An unknown id', new RequestNotFoundError(EXAMPLE_REQUEST_ID)) },
      },
      409: { description: 'Its state does not allow the move; nothing was changed.', examples: CONFLICTS },
    },
  };
}
