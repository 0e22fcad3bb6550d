import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { ACTIONS } from './actions/action.ts';
import { errorBodySchema } from './errors/fault.ts';
import { addRelayerSchema, relayerListSchema, relayerRemovedSchema } from './relayers/relayer.ts';
import { createParamsSchemas, createRequestSchemaOf } from './requests/create.ts';
import { listRequestsFields } from './requests/list.ts';
import { requestPageSchema } from './requests/record.ts';
import { updateRequestForms } from './requests/update.ts';
import { signedOperationSchema, signStorageSchema } from './storage/sign.ts';

// The OpenAPI document is made from these schemas: what JSON Schema cannot say must not be in them.

const limits = { maxBatchSize: 5 };
const paramsSchemas = createParamsSchemas(limits);
const schemas: readonly (readonly [string, z.ZodMiniType])[] = [
  ...ACTIONS.map((action) => [action, createRequestSchemaOf(action, paramsSchemas)] as const),
  ...updateRequestForms.map((form, i) => [`form ${i} of a claim or report`, form] as const),
  ['list query', z.object(listRequestsFields)],
  ['page', requestPageSchema],
  ['sign', signStorageSchema],
  ['signed operation', signedOperationSchema],
  ['add relayer', addRelayerSchema],
  ['relayer list', relayerListSchema],
  ['relayer removed', relayerRemovedSchema],
  ['error', errorBodySchema],
];

type Node = Readonly<Record<string, unknown>>;

/** Every subschema of a JSON Schema. */
function listNodes(value: unknown): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Node, ...Object.values(value).flatMap(listNodes)];
}

test.each(schemas)('objects of known fields are closed in %s', (_, schema) => {
  for (const node of listNodes(z.toJSONSchema(schema)).filter(({ properties }) => properties !== undefined)) {
    expect(node.additionalProperties).toBe(false);
  }
});

const allNodes = schemas.flatMap(([, schema]) => listNodes(z.toJSONSchema(schema)));
const patterns = new Set(allNodes.map(({ pattern }) => pattern).filter((pattern) => typeof pattern === 'string'));

test.each([...patterns])('the pattern %s is a whole, plain regular expression', (pattern) => {
  expect(pattern).toMatch(/^\^.*\$$/);
  // No look-around, named group, back-reference or property class: other engines lack them.
  expect(pattern).not.toMatch(/\(\?[=!<]|\\[1-9kpPbB]/);
  expect(() => new RegExp(pattern, 'u')).not.toThrow();
});

test('examples match the patterns beside them', () => {
  const matches = allNodes.flatMap(({ pattern, examples }) =>
    typeof pattern === 'string' && Array.isArray(examples) ? examples.map((example) => [pattern, example]) : [],
  );
  expect(matches).not.toEqual([]);
  for (const [pattern, example] of matches) expect(example).toMatch(new RegExp(pattern, 'u'));
});

test('batch arrays say how long they are and what is in them', () => {
  const { properties } = z.toJSONSchema(paramsSchemas.BATCH_WRITE_DATA_FOR);
  for (const name of ['dataIds', 'payloads']) {
    expect(properties?.[name]).toMatchObject({ type: 'array', minItems: 1, maxItems: 5, items: { type: 'string' } });
  }
});

test('v is an integer from 0 to 255, and texts say how long they are', () => {
  const { properties } = z.toJSONSchema(paramsSchemas.WRITE_DATA_FOR);
  expect(properties?.v).toMatchObject({ type: 'integer', minimum: 0, maximum: 255 });
  const { properties: report } = z.toJSONSchema(updateRequestForms[2]);
  expect(report?.errorMessage).toMatchObject({ type: 'string', minLength: 1, maxLength: 1000 });
});
