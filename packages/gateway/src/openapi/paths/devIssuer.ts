import type { ErrorBody } from '@prism-gateway/protocol';
import type { Operation, Paths, ResponseObject } from '../document.ts';
import { COMMON_HEADERS, describeFailure } from '../parts/responses.ts';
import { TAGS } from '../text/descriptions.ts';

const BODY = {
  type: 'object',
  properties: {
    sub: { type: 'string', minLength: 1, maxLength: 255, description: 'User id', examples: ['alice'] },
    expiresIn: {
      type: 'integer',
      minimum: 1,
      maximum: 86_400,
      default: 3600,
      description: 'Lifetime of the token, in seconds',
    },
  },
  required: ['sub'],
  additionalProperties: false,
};

const ANSWER = {
  type: 'object',
  properties: {
    access_token: { type: 'string', description: 'Send it as `Authorization: Bearer …`' },
    token_type: { type: 'string', const: 'Bearer', description: 'Always the same' },
    expires_in: { type: 'integer', description: 'Lifetime, in seconds' },
  },
  required: ['access_token', 'token_type', 'expires_in'],
  additionalProperties: false,
};

function refusal(description: string, value: ErrorBody, headers: ResponseObject['headers'] = {}): ResponseObject {
  return describeFailure({ description, headers, examples: { refused: { summary: value.error, value } } });
}

/** As `drivers/devIssuer` writes them. */
const FAILURES = {
  400: refusal('The body is not valid.', {
    error: 'The body is not valid.',
    code: 'VALIDATION_FAILED',
    details: [{ path: 'sub', message: 'expected 1 to 255 characters' }],
  }),
  413: refusal('The body is too large.', { error: 'The body is larger than 65536 bytes.', code: 'BODY_TOO_LARGE' }),
  415: refusal('The body is not JSON by its content type.', {
    error: 'The body must be application/json.',
    code: 'UNSUPPORTED_MEDIA_TYPE',
  }),
};

const OPERATION: Operation = {
  operationId: 'issueDevelopmentToken',
  summary: 'Get an access token for any user',
  description:
    'For the asking, to try the service without an identity provider; production has no such issuer. It is an OpenID provider of its own below `/dev/identity`: discovery at `/.well-known/openid-configuration`, keys at `/jwks`, introspection at `/introspect`, and `POST /revoke` with the form field `token` ends a token.',
  tags: [TAGS.development],
  security: [],
  requestBody: {
    description: 'Whose token it is',
    required: true,
    content: {
      'application/json': {
        schema: BODY,
        examples: {
          alice: { summary: 'For an hour', value: { sub: 'alice' } },
          short: { summary: 'For a minute', value: { sub: 'alice', expiresIn: 60 } },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The token.',
      headers: COMMON_HEADERS,
      content: {
        'application/json': {
          schema: ANSWER,
          examples: {
            alice: {
              summary: 'For an hour',
              value: { access_token: 'eyJhbGciOiJFUzI1NiIs…', token_type: 'Bearer', expires_in: 3600 },
            },
          },
        },
      },
    },
    ...FAILURES,
  },
  'x-access': 'public',
};

/** Describes the development issuer's token endpoint, the one that a person calls. */
export function describeDevIssuer(): Paths {
  return { '/dev/identity/token': { post: OPERATION } };
}
