import { dependencyUnavailable } from '../../http/errors.ts';
import type { JsonSchema, Operation, Paths, ResponseObject } from '../../openapi/document.ts';
import { errorExample } from '../../openapi/examples/failures.ts';
import { COMMON_HEADERS, describeFailure, headerRefs } from '../../openapi/parts/responses.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';

interface PlainDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly success: ResponseObject;
  readonly failures?: Operation['responses'];
}

function describePlain({ operationId, summary, description, success, failures }: PlainDescription) {
  const operation: Operation = {
    operationId,
    summary,
    description,
    tags: [TAGS.operations],
    security: [],
    responses: { 200: success, ...failures },
    'x-access': 'public',
  };
  return { get: operation };
}

function jsonSuccess(description: string, schema: JsonSchema, value: unknown): ResponseObject {
  const content = { 'application/json': { schema, examples: { answer: { summary: description, value } } } };
  return { description, headers: COMMON_HEADERS, content };
}

function statusSuccess(description: string, status: string): ResponseObject {
  const properties = { status: { type: 'string', const: status, description: 'One word' } };
  const schema = { type: 'object', properties, required: ['status'], additionalProperties: false };
  return jsonSuccess(description, schema, { status });
}

const STORE_DOWN = describeFailure({
  description: 'A store does not answer: send no traffic here.',
  headers: headerRefs('Retry-After'),
  examples: { store: errorExample('The store is down', dependencyUnavailable('store', undefined)) },
});

const METRICS = `# HELP prism_requests Records by status
# TYPE prism_requests gauge
prism_requests{status="pending"} 12
prism_requests{status="processing"} 3
# HELP prism_oldest_pending_seconds Age of the oldest pending request, 0 when none is pending
# TYPE prism_oldest_pending_seconds gauge
prism_oldest_pending_seconds 4.2
prism_oldest_pending_seconds{chain="eip155:1"} 4.2
# HELP prism_claims_total Claims
# TYPE prism_claims_total counter
prism_claims_total{result="won"} 1000
prism_claims_total{result="lost"} 19
`;

const METRICS_SUCCESS: ResponseObject = {
  description: 'The metrics, in the text format of Prometheus.',
  headers: COMMON_HEADERS,
  content: {
    'text/plain': {
      schema: { type: 'string' },
      examples: { some: { summary: 'Some of them', value: METRICS } },
    },
  },
};

/** Describes the routes for operators and readers; no limit counts them. */
export function describeOperations(): Paths {
  return {
    '/health': describePlain({
      operationId: 'readHealth',
      summary: 'Is the process alive?',
      description: 'Answers without asking anything else.',
      success: statusSuccess('Alive.', 'alive'),
    }),
    '/ready': describePlain({
      operationId: 'readReadiness',
      summary: 'Can it serve?',
      description: 'Asks the stores.',
      success: statusSuccess('The stores answer.', 'ready'),
      failures: { 503: STORE_DOWN },
    }),
    '/metrics': describePlain({
      operationId: 'readMetrics',
      summary: 'Metrics for Prometheus',
      description:
        'HTTP requests and their latency by route, claims won and lost, records by status, age of the oldest pending request, and the process itself.',
      success: METRICS_SUCCESS,
    }),
    '/openapi.json': describePlain({
      operationId: 'readOpenApi',
      summary: 'This document',
      description:
        'OpenAPI 3.1, made from the schemas that validate. It is compressed for who takes `gzip`, and has an `ETag`: with that in `If-None-Match` the answer is 304.',
      success: jsonSuccess(
        'The document.',
        {
          type: 'object',
          properties: { openapi: { type: 'string', description: 'Version of the format' } },
          required: ['openapi'],
        },
        { openapi: '3.1.1' },
      ),
      failures: { 304: { description: 'The document has not changed.', headers: COMMON_HEADERS } },
    }),
  };
}
