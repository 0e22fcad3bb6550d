import {
  DEFAULT_PAGE_SIZE,
  listRequestsFields,
  MAX_PAGE_SIZE,
  MAX_WAIT_SECONDS,
  REQUEST_STATUSES,
} from '@prism-gateway/protocol';
import * as z from 'zod/mini';
import { type Examples, type JsonSchema, type Parameter, type RequestBody, schemaRef } from '../document.ts';
import { EXAMPLE_REQUEST_ID } from '../examples/successes.ts';

type Name = keyof typeof listRequestsFields;

/** The schema that validates a parameter, as JSON Schema. */
export function schemaOf(field: z.core.$ZodType): JsonSchema {
  const { $schema, description, examples, ...schema } = z.toJSONSchema(field);
  return schema;
}

const LIST_QUERY: Readonly<Record<Name, Omit<Parameter, 'name' | 'in'>>> = {
  signer: {
    description: 'Only requests of this signer, in any letter case. Public when it is the only filter.',
    schema: schemaRef('Address'),
    example: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  },
  status: {
    description: `Only requests in this state: ${REQUEST_STATUSES.join(', ')}. Needs relayer authentication.`,
    schema: schemaRef('RequestStatus'),
  },
  chainName: {
    description: 'Only requests for this chain, exactly as it was given. Needs relayer authentication.',
    schema: schemaRef('ChainName'),
  },
  limit: {
    description: 'Most records of the page.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
  },
  order: {
    description: 'By `createdAt`, then `requestId`: `asc` is oldest first, as a queue is served.',
    schema: { ...schemaOf(listRequestsFields.order), default: 'asc' },
  },
  lastKey: {
    description: 'Cursor: the `lastKey` of the page before, with the same filters and order. It is opaque.',
    schema: schemaOf(listRequestsFields.lastKey),
  },
};

/** The query of a list. */
export const LIST_PARAMETERS: readonly Parameter[] = Object.entries(LIST_QUERY).map(([name, rest]) => ({
  ...{ name, in: 'query' },
  ...rest,
}));

/** The path parameter of one request. */
export const REQUEST_ID_PARAMETER: Parameter = {
  name: 'requestId',
  in: 'path',
  description: 'Id of the request: any UUID of RFC 9562, in any letter case. Anything else is a 400.',
  required: true,
  schema: schemaRef('RequestId'),
  example: EXAMPLE_REQUEST_ID,
};

/** Describes a JSON body that a route requires. @param schema - name in the components */
export function jsonBody(schema: string, description: string, examples: Examples): RequestBody {
  return { description, required: true, content: { 'application/json': { schema: schemaRef(schema), examples } } };
}

const WAIT_PARAMETER: Parameter = {
  name: 'wait',
  in: 'query',
  description: 'Longest wait, in seconds.',
  schema: { type: 'integer', minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 },
};

/** The query of a submission. */
export const ONCE_PARAMETER: Parameter = {
  name: 'once',
  in: 'query',
  description: 'Whether a record that carries the same signature is the answer instead.',
  schema: { type: 'boolean' },
};

/** The query of a read. */
export const READ_PARAMETERS: readonly Parameter[] = [
  {
    name: 'seen',
    in: 'query',
    description: 'The status that is known: the call waits for another one. Required beside `wait`.',
    schema: schemaRef('RequestStatus'),
  },
  WAIT_PARAMETER,
];

/** The query of the feed. */
export const FEED_PARAMETERS: readonly Parameter[] = [
  {
    name: 'chainName',
    in: 'query',
    description: 'The chain, exactly as requests name it.',
    required: true,
    schema: schemaRef('ChainName'),
  },
  {
    name: 'seen',
    in: 'query',
    description: 'The `cursor` of the page before, of the same chain. It is opaque.',
    schema: schemaOf(listRequestsFields.lastKey),
  },
  {
    name: 'from',
    in: 'query',
    description:
      'Where to begin without a cursor: with the oldest pending request, or with what becomes pending from now on.',
    schema: { type: 'string', enum: ['oldest', 'now'], default: 'oldest' },
  },
  WAIT_PARAMETER,
];
