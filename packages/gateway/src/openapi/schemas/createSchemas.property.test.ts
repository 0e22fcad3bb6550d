import {
  ACTIONS,
  addRelayerSchema,
  createRequestParser,
  type Parsed,
  parseListRequests,
  parseUpdateRequest,
  parseWith,
  signStorageSchema,
} from '@prism-gateway/protocol';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { anyRequestArbitrary, mutateJson } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOpenApiRig } from '../../../test/rigs/openApiRig.ts';
import { schemaRef } from '../document.ts';
import { nameSchemas } from './nameSchemas.ts';

const MAX_BATCH_SIZE = 3;
const limits = { maxBatchSize: MAX_BATCH_SIZE };
const rig = createOpenApiRig(limits);
const runs = { numRuns: sized({ small: 2_000, long: 50_000 }) };

/** Every text in a JSON value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The rules that JSON Schema cannot say, said once more and otherwise. */
function keepsUnsaidRules(body: unknown): boolean {
  const params = Object(Object(body).params);
  const { dataIds, payloads } = params;
  if (Array.isArray(dataIds) && Array.isArray(payloads) && dataIds.length !== payloads.length) return false;
  const fits = (text: string) => !/^[1-9]\d{77}$/.test(text) || BigInt(text) < 2n ** 256n;
  return textsIn(params).every(fits) && textsIn(body).every((text) => text.isWellFormed());
}

const isAccepted = (parsed: Parsed<unknown>) => 'value' in parsed;

interface Pair {
  /** In the components. */
  readonly schema: string;
  readonly parse: (json: unknown) => Parsed<unknown>;
  readonly valid: fc.Arbitrary<unknown>;
}

const updates = fc.constantFrom(
  { status: 'processing' },
  { status: 'success', txHash: `0x${'ab'.repeat(32)}` },
  { status: 'failed', errorMessage: 'execution reverted' },
);
const relayers = fc.constantFrom(
  { address: `0x${'Ab'.repeat(20)}` },
  { address: `0x${'ab'.repeat(20)}`, label: 'relayer-eu-1' },
);
const signs = fc.constantFrom(
  ...['put', 'get', 'head', 'delete'].map((operation) => ({
    projectId: `0x${'a1'.repeat(16)}`,
    key: `0x${'b2'.repeat(32)}`,
    operation,
  })),
);
const requests = fc.oneof(
  anyRequestArbitrary({ maxBatchSize: MAX_BATCH_SIZE }),
  fc.constantFrom(...Object.values(EXAMPLE_REQUESTS)),
);

const pairs: readonly Pair[] = [
  { schema: 'CreateRequestBody', parse: createRequestParser(limits), valid: requests },
  { schema: 'UpdateRequestBody', parse: parseUpdateRequest, valid: updates },
  { schema: 'AddRelayerBody', parse: (json) => parseWith(addRelayerSchema, json), valid: relayers },
  { schema: 'SignStorageBody', parse: (json) => parseWith(signStorageSchema, json), valid: signs },
];

describe('createSchemas', () => {
  it.each(pairs)('has $schema take and refuse what the service does', ({ schema, parse, valid }) => {
    const validate = rig.compile(schemaRef(schema));
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(mutateJson(valid), (body) => {
        const accepted = isAccepted(parse(body));
        seen[accepted ? 'accepted' : 'refused']++;
        expect(validate(body) && keepsUnsaidRules(body)).toBe(accepted);
      }),
      runs,
    );
    // Neither side may be empty, or the property says nothing.
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(runs.numRuns / 20);
  });

  it('has the schema refuse a permit without funds, and only the service what JSON Schema cannot say', () => {
    const validate = rig.compile(schemaRef('CreateRequestBody'));
    const parse = createRequestParser(limits);
    const { CREATE_PRISM_FOR: create, BATCH_WRITE_DATA_FOR: batch } = EXAMPLE_REQUESTS;
    const { permit, ...unfunded } = { ...create.params, fundAmount: '0' };
    const evaluate = (body: unknown) => ({ schema: validate(body), service: isAccepted(parse(body)) });
    expect(evaluate({ ...create, params: unfunded })).toEqual({ schema: true, service: true });
    expect(permit).toBeDefined();
    expect(evaluate({ ...create, params: { ...unfunded, permit } })).toEqual({ schema: false, service: false });
    const unequal = { ...batch.params, payloads: batch.params.payloads.slice(1) };
    expect(evaluate({ ...batch, params: unequal })).toEqual({ schema: true, service: false });
    const tooLarge = { ...batch.params, relayerFee: String(2n ** 256n) };
    expect(evaluate({ ...batch, params: tooLarge })).toEqual({ schema: true, service: false });
  });

  it('takes every valid request', () => {
    const validate = rig.compile(schemaRef('CreateRequestBody'));
    fc.assert(
      fc.property(anyRequestArbitrary({ maxBatchSize: MAX_BATCH_SIZE }), (body) => {
        expect(validate(JSON.parse(JSON.stringify(body)))).toBe(true);
      }),
      runs,
    );
  });

  it.each(['limit', 'order', 'status', 'signer', 'chainName', 'lastKey'])(
    'has %s take what a query may hold',
    (name) => {
      const parameter = rig.document.paths['/requests']?.get?.parameters?.find((known) => known.name === name);
      const validate = rig.compile(parameter?.schema ?? { not: {} });
      const near = fc.constantFrom(
        '1',
        '20',
        '100',
        '101',
        '0',
        '-1',
        'asc',
        'desc',
        'pending',
        'done',
        'abc_-',
        'a.b',
        `0x${'ab'.repeat(20)}`,
      );
      fc.assert(
        fc.property(fc.oneof(near, fc.string({ minLength: 1 })), (text) => {
          // A number goes into a query as its decimal text, and no other text is one.
          const value = name === 'limit' && String(Number(text)) === text ? Number(text) : text;
          const query = new URLSearchParams({ status: 'pending', [name]: text });
          expect(validate(value)).toBe(isAccepted(parseListRequests(query)));
        }),
        { numRuns: 500 },
      );
    },
  );

  it('names the params of each action, and gives a shared shape one place', () => {
    const { schemas, aliases } = nameSchemas(limits);
    expect(ACTIONS.length).toBe(12);
    expect(Object.keys(schemas).filter((name) => name.endsWith('Params')).length + aliases.length).toBe(12);
    expect(rig.document.components.schemas.ModifyDataForParams).toMatchObject(schemaRef('WriteDataForParams'));
  });
});
