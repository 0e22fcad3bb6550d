import { CORS_HEADERS } from '@prism-gateway/protocol';
import { bodyTooLarge, dependencyUnavailable, notJson, unexpected } from '../../http/errors.ts';
import { type Examples, type Header, type Reference, type ResponseObject, schemaRef } from '../document.ts';
import { errorExample } from '../examples/failures.ts';

type HeaderName = keyof typeof API_ANSWER_HEADERS;

const cors = (name: keyof typeof CORS_HEADERS, description: string): Header => ({
  description,
  required: true,
  schema: { type: 'string', const: CORS_HEADERS[name] },
});

/** Every header of answers that the document describes, by name; see docs/specification.md CORS-1. */
export const API_ANSWER_HEADERS = {
  'X-Request-Id': {
    description: 'Id of this HTTP request, in the logs too: the one that was sent, if it has this form, else a new one',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,64}$' },
    example: '0197c2a4-5b1e-7c3d-8f60-0242ac120003',
  },
  RateLimit: {
    description: 'Of the limit that counted this call: what remains (`r`), and seconds to the end of its window (`t`)',
    schema: { type: 'string', pattern: '^"[a-z-]+";r=\\d+;t=\\d+$' },
    example: '"writes";r=599;t=42',
  },
  'RateLimit-Policy': {
    description: 'Of the limit that counted this call: its quota (`q`) and window in seconds (`w`)',
    schema: { type: 'string', pattern: '^"[a-z-]+";q=\\d+;w=\\d+$' },
    example: '"writes";q=600;w=60',
  },
  'Retry-After': {
    description: 'Seconds after which another try makes sense',
    required: true,
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
    example: '12',
  },
  Location: {
    description: 'Where it can be read, relative to the URL of the call',
    required: true,
    schema: { type: 'string' },
    example: 'requests/0197c2a4-5b1e-7c3d-8f60-0242ac120002',
  },
  Allow: {
    description: 'The methods that the route takes',
    required: true,
    schema: { type: 'string' },
    example: 'GET, HEAD, POST, OPTIONS',
  },
  'Access-Control-Allow-Origin': cors('access-control-allow-origin', 'Any page may read the answer'),
  'Access-Control-Allow-Headers': cors('access-control-allow-headers', 'Headers that a page may send'),
  'Access-Control-Allow-Methods': cors('access-control-allow-methods', 'Methods that a page may use'),
  'Access-Control-Expose-Headers': cors('access-control-expose-headers', 'Headers that a page may read'),
  'Access-Control-Max-Age': cors('access-control-max-age', 'Seconds for which a preflight holds'),
} as const satisfies Readonly<Record<string, Header>>;

/** Points to headers of the components. */
export function headerRefs(...names: readonly HeaderName[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Of a call that may wait, if the gateway lets none. */
export const ASK_AGAIN_HEADER = {
  'Retry-After': {
    description: 'Seconds after which to ask again: where nobody may wait, and nothing has happened',
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
    example: '1',
  },
} as const satisfies Readonly<Record<string, Header>>;

/** Headers of every answer; the CORS ones have the same values everywhere. */
export const COMMON_HEADERS = headerRefs(
  'X-Request-Id',
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Headers',
  'Access-Control-Allow-Methods',
  'Access-Control-Expose-Headers',
  'Access-Control-Max-Age',
);

/** Headers of every answer that a limit has counted. */
export const LIMIT_HEADERS = headerRefs('RateLimit', 'RateLimit-Policy');

interface FailureFacts {
  readonly description: string;
  readonly examples: Examples;
  /** Headers beyond those of every answer. */
  readonly headers?: Readonly<Record<string, Header | Reference>>;
}

/** Describes a failing answer: `{ error, details? }`. */
export function describeFailure({ description, examples, headers }: FailureFacts): ResponseObject {
  return {
    description,
    headers: { ...COMMON_HEADERS, ...headers },
    content: { 'application/json': { schema: schemaRef('Error'), examples } },
  };
}

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
      examples: { unexpected: errorExample('Nothing inside is shown', unexpected(undefined)) },
    }),
    StoreUnavailable: describeFailure({
      description: 'The store did not answer. Whether a write took place is unknown; reading the record shows it.',
      headers: { ...LIMIT_HEADERS, ...headerRefs('Retry-After') },
      examples: { store: errorExample('The store is down', dependencyUnavailable('store', undefined)) },
    }),
  } as const satisfies Readonly<Record<string, ResponseObject>>;
}
