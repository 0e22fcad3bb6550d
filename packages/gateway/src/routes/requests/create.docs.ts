import { createRequestParser } from '@prism-gateway/protocol';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import type { Examples } from '../../openapi/document.ts';
import { bodyFaultsExample } from '../../openapi/examples/failures.ts';
import { CREATE_EXAMPLES, CREATED_EXAMPLES, RECORD_EXAMPLES } from '../../openapi/examples/successes.ts';
import { jsonBody, ONCE_PARAMETER } from '../../openapi/parts/parameters.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';

interface Limits {
  readonly maxBatchSize: number;
}

function invalidExamples(limits: Limits): Examples {
  const parse = createRequestParser(limits);
  const refused = (summary: string, body: unknown) => bodyFaultsExample(summary, JSON.stringify(body), parse);
  const { WRITE_DATA_FOR: write, CREATE_PRISM_FOR: create, BATCH_WRITE_DATA_FOR: batch } = EXAMPLE_REQUESTS;
  const { signer, ...unsigned } = write.params;
  return {
    everyFault: refused('Several faults, each named', {
      action: write.action,
      params: { ...unsigned, payload: '0x7', relayerFee: 10, note: 'please' },
    }),
    unknownAction: refused('An unknown action', { ...write, action: 'SEND_DATA_FOR' }),
    permitWithoutFunds: refused('A permit with nothing to pull', {
      ...create,
      params: { ...create.params, fundAmount: '0' },
    }),
    unequalBatch: refused('Fewer payloads than ids', {
      ...batch,
      params: { ...batch.params, payloads: batch.params.payloads.slice(1) },
    }),
    notJson: bodyFaultsExample('A body that is not JSON', '{"chainName":', parse),
  };
}

const DESCRIPTION = `Puts a signed request into the queue as \`pending\`. Nobody has to sign in: the EIP-712 signature in \`params\` is verified on-chain by the Forwarder, not here.

\`params\` are validated strictly by their \`action\`, and every fault is named in one answer. \`signer\` of the record is \`params.signer\`. The 201 is durable. The same body sent twice makes two records; the signer's nonce lets only one of them succeed on-chain.

With \`once=true\` the same submission is taken a single time: if a record of the same \`chainName\`, \`action\` and \`params\` (and so the same signer and signature) is there that has not ended \`failed\`, it is the answer, with 200, and nothing is stored. So a call whose answer was lost can be sent again. Other params under the same signature are another request.

The examples are really signed, by well-known development keys for a development chain.`;

/** Describes `POST /requests`. */
export function describeCreateRequest(limits: Limits): RouteDescription {
  return {
    tag: TAGS.requests,
    summary: 'Submit a signed request',
    description: DESCRIPTION,
    parameters: [ONCE_PARAMETER],
    requestBody: jsonBody('CreateRequestBody', 'The request, one of twelve actions', CREATE_EXAMPLES),
    success: { description: 'Stored as `pending`.', schema: 'RequestRecord', examples: CREATED_EXAMPLES },
    otherSuccess: {
      description: 'With `once=true`: the record of this submission, as it stands.',
      schema: 'RequestRecord',
      examples: RECORD_EXAMPLES,
    },
    failures: {
      400: { description: 'The body is not valid; nothing was stored.', examples: invalidExamples(limits) },
    },
  };
}
