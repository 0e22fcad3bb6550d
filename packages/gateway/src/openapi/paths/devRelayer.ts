import type { ErrorCode } from '@prism-gateway/protocol';
import type { Operation, Paths } from '../document.ts';
import { COMMON_HEADERS, describeFailure } from '../parts/responses.ts';
import { RELAYER_AUTH_EXAMPLE } from '../text/authentication.ts';
import { TAGS } from '../text/descriptions.ts';

const BODY = {
  type: 'object',
  properties: {
    method: { type: 'string', description: 'Of the call', examples: ['PATCH'] },
    path: { type: 'string', description: 'As the service routes it, without query', examples: ['/requests/feed'] },
    body: { type: 'string', description: 'The very text that the call sends; absent: none' },
  },
  required: ['method', 'path'],
  additionalProperties: false,
};

const HEADERS = {
  type: 'object',
  description: 'To send with the call',
  properties: {
    'x-relayer-address': { type: 'string', description: 'Address of the development relayer' },
    'x-relayer-timestamp': { type: 'string', description: 'Unix time in milliseconds' },
    'x-relayer-signature': { type: 'string', description: 'Signature of 65 bytes, in hex' },
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

const refusal = (description: string, code: ErrorCode, error: string, headers = {}) =>
  describeFailure({ description, headers, examples: { refused: { summary: error, value: { error, code } } } });

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
    400: refusal(
      'The body is not such an order.',
      'VALIDATION_FAILED',
      'Expected JSON with method, path and, if the call has one, body.',
    ),
    413: refusal('The body is too large.', 'BODY_TOO_LARGE', 'The body is larger than 1048576 bytes.'),
    415: refusal(
      'The body is not JSON by its content type.',
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be application/json.',
    ),
  },
  'x-access': 'public',
};

/** Describes the development relayer. */
export function describeDevRelayer(): Paths {
  return { '/dev/relayer/sign': { post: OPERATION } };
}
