import type { ErrorCode } from '@prism-gateway/protocol';
import {
  type Header,
  type Operation,
  type Parameter,
  type PathItem,
  type Paths,
  type Reference,
  type ResponseObject,
  schemaRef,
} from '../document.ts';
import { BOUND_HEADERS, EXAMPLE_OBJECT } from '../examples/successes.ts';
import { headerRefs } from '../parts/responses.ts';
import { TAGS } from '../text/descriptions.ts';

type Method = 'GET' | 'PUT' | 'HEAD' | 'DELETE';
type Responses = Operation['responses'];

const hexOf = (digits: number) => ({ type: 'string', pattern: `^[0-9a-f]{${digits}}$` });

const pathParameter = (name: keyof typeof EXAMPLE_OBJECT, digits: number, description: string): Parameter => ({
  name,
  in: 'path',
  description,
  required: true,
  schema: hexOf(digits),
  example: EXAMPLE_OBJECT[name],
});

function queryParameters(method: Method): readonly Parameter[] {
  const query = (name: string, schema: Parameter['schema'], description: string, required = true): Parameter => ({
    name,
    in: 'query',
    description,
    required,
    schema,
  });
  return [
    query('expires', { type: 'integer' }, 'End of the lifetime, Unix time in seconds'),
    query('method', { type: 'string', const: method }, 'The method that was signed'),
    query('headers', { type: 'string' }, 'Names of the signed headers; absent where there are none', false),
    query('signature', { type: 'string' }, 'Seals all of the above, and the path'),
  ];
}

const PARAMETERS: readonly Parameter[] = [
  pathParameter('tenant', 64, 'SHA-256 of issuer, a bar, and user id'),
  pathParameter('projectId', 32, '`projectId` without its `0x`, in lower case'),
  pathParameter('key', 64, '`key` without its `0x`, in lower case'),
];

const signedHeader = (name: keyof typeof BOUND_HEADERS, description: string): Parameter => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
  example: BOUND_HEADERS[name],
});

const REQUEST_ID = headerRefs('X-Request-Id');
const etag: Header = { description: 'Entity tag; changes with each put', schema: { type: 'string' } };

/** A failing answer in the API's shape; to HEAD without its body. */
function failure(
  method: Method,
  [code, error]: readonly [ErrorCode, string],
  headers: Readonly<Record<string, Header | Reference>> = {},
): ResponseObject {
  const examples = { refused: { summary: error, value: { error, code } } };
  const content = { 'application/json': { schema: schemaRef('Error'), examples } };
  return { description: error, headers: { ...REQUEST_ID, ...headers }, ...(method !== 'HEAD' && { content }) };
}

function commonFailures(method: Method): Responses {
  return {
    403: failure(method, [
      'OBJECT_URL_REFUSED',
      'The URL, its method or a signed header is not as it was signed; ask for a new presigned URL.',
    ]),
    503: failure(
      method,
      ['DEPENDENCY_UNAVAILABLE', 'The object store did not answer; try again later.'],
      headerRefs('Retry-After'),
    ),
  };
}

const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

function readFailures(method: Method): Responses {
  return {
    304: { description: 'Not changed since the condition that was sent.', headers: REQUEST_ID },
    404: failure(method, ['OBJECT_NOT_FOUND', 'There is no such object.']),
    412: failure(method, ['OBJECT_PRECONDITION_FAILED', 'The object is not in the state that the request asks for.']),
  };
}

function describe(
  method: Method,
  facts: Pick<Operation, 'operationId' | 'summary'> & { responses: Responses },
): Operation {
  const { operationId, summary, responses } = facts;
  const bound = [
    signedHeader('if-none-match', 'As `POST /storage/sign` gave it: nothing is overwritten'),
    signedHeader('x-amz-checksum-sha256', 'As `POST /storage/sign` gave it: base64 of the SHA-256 of the content'),
  ];
  return {
    operationId,
    summary,
    description: `By a presigned URL of \`POST /storage/sign\`, taken as it is: nobody makes one by hand. The bucket's CORS policy holds here, not the API's.`,
    tags: [TAGS.objects],
    security: [],
    parameters: [...PARAMETERS, ...queryParameters(method), ...(method === 'PUT' ? bound : [])],
    ...(method === 'PUT' && {
      requestBody: { description: 'The encrypted bytes', required: true, content: bytes },
    }),
    responses: { ...responses, ...commonFailures(method) },
    'x-access': 'presigned',
  };
}

function describeObject(): PathItem {
  const found = { description: 'The object.', headers: { ...REQUEST_ID, ETag: etag } };
  return {
    get: describe('GET', {
      operationId: 'getObject',
      summary: 'Read an object',
      responses: {
        200: { ...found, description: 'The object, as an attachment.', content: bytes },
        206: { ...found, description: 'The part that `Range` asked for.', content: bytes },
        ...readFailures('GET'),
        416: failure('GET', ['OBJECT_RANGE_UNSATISFIABLE', 'The object does not reach as far as the range asked for.']),
      },
    }),
    put: describe('PUT', {
      operationId: 'putObject',
      summary: 'Store an object',
      responses: {
        200: { description: 'Stored, whole and durable.', headers: { ...REQUEST_ID, ETag: etag } },
        400: failure('PUT', [
          'OBJECT_CONTENT_MISMATCH',
          'The content does not hash to the signed SHA-256; nothing was stored.',
        ]),
        408: failure('PUT', ['OBJECT_TOO_SLOW', 'The upload came too slowly; nothing was stored.']),
        409: failure('PUT', [
          'OBJECT_UPLOAD_UNDER_WAY',
          'An upload by this URL is under way; nothing was stored by this one.',
        ]),
        412: failure('PUT', ['OBJECT_EXISTS', 'The object exists already and is not overwritten.']),
        413: failure('PUT', ['OBJECT_TOO_LARGE', 'The object is larger than this store allows; nothing was stored.']),
      },
    }),
    head: describe('HEAD', {
      operationId: 'headObject',
      summary: 'Ask whether an object is there',
      responses: { 200: { ...found, description: 'It is there.' }, ...readFailures('HEAD') },
    }),
    delete: describe('DELETE', {
      operationId: 'deleteObject',
      summary: 'Delete an object',
      responses: { 204: { description: 'It is not there any more.', headers: REQUEST_ID } },
    }),
  };
}

/** Describes the objects that this service keeps itself if no bucket is set. */
export function describeLocalObjects(): Paths {
  return { '/objects/v1/{tenant}/{projectId}/{key}': describeObject() };
}
