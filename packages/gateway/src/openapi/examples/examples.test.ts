import { ACTIONS } from '@prism-gateway/protocol';
import vectors from '@prism-gateway/protocol/vectors/relayer-auth.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import { createOpenApiRig } from '../../../test/rigs/openApiRig.ts';
import type { JsonSchema } from '../document.ts';
import { RELAYER_AUTH_EXAMPLE } from '../text/authentication.ts';

const rig = createOpenApiRig();

interface Found {
  readonly at: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The examples that stand right in a node: of a media type, parameter or header, or of a schema itself. */
function examplesIn(node: Record<string, unknown>): Found[] {
  const { schema, example, examples } = node;
  if (Array.isArray(examples)) return examples.map((value) => ({ at: 'schema', schema: node, value }));
  if (!isRecord(schema)) return [];
  const named = isRecord(examples) ? Object.entries(examples) : [];
  return [
    ...('example' in node ? [{ at: 'example', schema, value: example }] : []),
    ...named.map(([at, named]) => ({ at, schema, value: isRecord(named) ? named.value : undefined })),
  ];
}

/** Every example of the document, with the schema that it must fit. */
function findExamples(node: unknown, at = ''): Found[] {
  if (Array.isArray(node)) return node.flatMap((item, index) => findExamples(item, `${at} ${index}`));
  if (!isRecord(node)) return [];
  const inside = Object.entries(node).filter(([key]) => key !== 'example' && key !== 'examples');
  return [
    ...examplesIn(node).map((found) => ({ ...found, at: `${at} ${found.at}` })),
    ...inside.flatMap(([key, value]) => findExamples(value, `${at} ${key}`)),
  ];
}

const found = findExamples(rig.document);

describe('the examples', () => {
  it('are there for each action and for each error', () => {
    const create = rig.document.paths['/requests']?.post;
    const created = create?.responses['201'];
    expect(Object.keys(create?.requestBody?.content['application/json']?.examples ?? {})).toEqual(ACTIONS);
    expect(
      created && 'content' in created && Object.keys(created.content?.['application/json']?.examples ?? {}),
    ).toEqual(ACTIONS);
    for (const [path, item] of Object.entries(rig.document.paths)) {
      for (const [method, { responses }] of Object.entries(item)) {
        for (const [status, response] of Object.entries(responses)) {
          if ('$ref' in response || method === 'head' || status < '400') continue;
          const examples = response.content?.['application/json']?.examples;
          expect(Object.keys(examples ?? {}).length, `${method} ${path} ${status}`).toBeGreaterThan(0);
        }
      }
    }
    expect(found.length).toBeGreaterThan(150);
  });

  it('are each valid by the schema beside them', () => {
    const invalid = found.flatMap(({ at, schema, value }) => {
      const validate = rig.compile(schema);
      return validate(value) ? [] : [{ at, value, errors: validate.errors }];
    });
    expect(invalid).toEqual([]);
  });

  it('pair a body of each action with its record', () => {
    const { post } = rig.document.paths['/requests'] ?? {};
    const bodies = post?.requestBody?.content['application/json']?.examples ?? {};
    const created = post?.responses['201'];
    for (const action of ACTIONS) {
      const record =
        created && 'content' in created && created.content?.['application/json']?.examples?.[action]?.value;
      expect(record).toMatchObject({ ...(bodies[action]?.value as object), status: 'pending' });
    }
  });

  it('of relayer authentication are those of the vectors', () => {
    const vector = vectors.vectors.find(({ name }) => name === 'a claim by another relayer');
    expect(vector?.expected).toBe('accepted');
    const { timestamp, method, path, bodyHash, body, message, digest, address, signature } = RELAYER_AUTH_EXAMPLE;
    expect(vector?.request).toMatchObject({ method, path, bodyText: body });
    expect(vector?.request.headers).toEqual({
      'X-Relayer-Address': address,
      'X-Relayer-Signature': signature,
      'X-Relayer-Timestamp': timestamp,
    });
    expect(vector?.signed).toMatchObject({ message, digest, bodyHash, address });
    expect(rig.document.info.description).toContain(message);
    expect(rig.document.components.securitySchemes.relayerSignature?.description).toContain(message);
  });
});
