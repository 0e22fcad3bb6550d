import type { Operation, Paths } from '../document.ts';
import { COMMON_HEADERS, describeFailure, headerRefs } from '../parts/responses.ts';
import { RELAYER_AUTH_EXAMPLE } from '../text/authentication.ts';
import { TAGS } from '../text/descriptions.ts';

const BODY = {
  type: 'object',
  properties: {
    method: { type: 'string', examples: ['PATCH'] },
    path: { type: 'string', description: 'As the service routes it, without query', examples: ['/requests/feed'] },
    body: { type: 'string', description: 'The very text that the call sends; absent: none' },
  },
  required: ['method', 'path'],
  additionalProperties: false,
};

const HEADERS = {
  type: 'object',
  properties: {
    'x-relayer-address': { type: 'string' },
    'x-relayer-timestamp': { type: 'string' },
    'x-relayer-signature': { type: 'string' },
  },
  required: ['x-relayer-address', 'x-relayer-timestamp', 'x-relayer-signature'],
  additionalProperties: false,
};

const ANSWER = {
  type: 'object',
  properties: { headers: HEADERS },
  required: ['headers'],
  additionalProperties: false,
};

const { method, path, body, address, timestamp, signature } = RELAYER_AUTH_EXAMPLE;

const refusal = (description: string, error: string, headers = {}) =>
  describeFailure({ description, headers, examples: { refused: { summary: error, value: { error } } } });

/** As `drivers/devRelayer` answers. */
const OPERATION: Operation = {
  operationId: 'signAsDevelopmentRelayer',
  summary: "Sign a call as this installation's development relayer",
  description:
    'For the asking, to try claims and reports without a relayer; production has no such thing. It may call once its address, which is in the answer, is on the whitelist. It is answered to this machine and private networks alone.',
  tags: [TAGS.development],
  security: [],
  requestBody: {
    description: 'What is to be signed',
    required: true,
    content: {
      'application/json': {
        schema: BODY,
        examples: {
          claim: { summary: 'A claim', value: { method, path, body } },
          feed: { summary: 'A call without a body', value: { method: 'GET', path: '/requests/feed' } },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The headers to send.',
      headers: COMMON_HEADERS,
      content: {
        'application/json': {
          schema: ANSWER,
          examples: {
            claim: {
              summary: 'For a claim',
              value: {
                headers: {
                  'x-relayer-address': address,
                  'x-relayer-timestamp': timestamp,
                  'x-relayer-signature': signature,
                },
              },
            },
          },
        },
      },
    },
    400: refusal('The body is not such an order.', 'Expected JSON with method, path and, if the call has one, body.'),
    405: refusal('Any other method on this path.', 'This endpoint takes POST only.', headerRefs('Allow')),
  },
  'x-access': 'public',
};

/** Describes the development relayer. */
export function describeDevRelayer(): Paths {
  return { '/dev/relayer/sign': { post: OPERATION } };
}
