import { listErrors, ROUTES } from '@prism-gateway/protocol';
import { WEBHOOK_EVENTS, WEBHOOK_ROUTES } from '@prism-gateway/protocol/webhooks';
import { describe, expect, it } from 'vitest';
import gateway from '../../package.json' with { type: 'json' };
import { createOpenApiRig } from '../../test/rigs/openApiRig.ts';
import { type JsonSchema, type OpenApiDocument, type Operation, schemaRef } from './document.ts';
import { exampleRecord } from './examples/successes.ts';

const routes = Object.entries({ ...ROUTES, ...WEBHOOK_ROUTES });

function operationsOf({ paths }: OpenApiDocument): (Operation & { readonly at: string })[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, at: `${method.toUpperCase()} ${path}` })),
  );
}

describe('createOpenApiDocument', () => {
  const { document } = createOpenApiRig();
  const operations = operationsOf(document);

  it.each(routes)('describes %s with every status that it answers', (name, { method, path, success, ...more }) => {
    const operation = operations.find(({ operationId }) => operationId === name);
    expect(operation?.at).toBe(`${method} ${path}`);
    const others = 'otherSuccess' in more ? [more.otherSuccess] : [];
    const beside = ['readRequest', 'updateRequest'].includes(name) ? [405] : [];
    const expected = [success, ...others, ...listErrors(more), ...beside].map(String);
    expect(Object.keys(operation?.responses ?? {}).toSorted()).toEqual(expected.toSorted());
  });

  it.each(routes)('says who may call %s, and what counts it', (name, { access, rateLimit, takesBody }) => {
    const operation = operations.find(({ operationId }) => operationId === name);
    expect(operation?.['x-access']).toBe(access);
    expect(operation?.['x-rate-limit']).toBe(rateLimit);
    expect(operation?.requestBody !== undefined).toBe(takesBody);
    const schemes = {
      public: name === 'listRequests' ? ['relayerAddress', 'relayerSignature', 'relayerTimestamp'] : [],
      identity: ['bearer'],
      relayer: ['relayerAddress', 'relayerSignature', 'relayerTimestamp'],
      admin: ['adminKey'],
    }[access];
    expect(operation?.security.flatMap(Object.keys).toSorted()).toEqual(schemes);
  });

  it('describes the routes for operators, the development issuer and local objects', () => {
    const others = operations
      .map(({ at }) => at)
      .filter((at) => !routes.some(([, r]) => `${r.method} ${r.path}` === at));
    expect(others).toEqual([
      'GET /health',
      'GET /ready',
      'GET /metrics',
      'GET /openapi.json',
      'POST /dev/identity/token',
      'POST /dev/relayer/sign',
      'GET /objects/v1/{tenant}/{projectId}/{key}',
      'PUT /objects/v1/{tenant}/{projectId}/{key}',
      'HEAD /objects/v1/{tenant}/{projectId}/{key}',
      'DELETE /objects/v1/{tenant}/{projectId}/{key}',
    ]);
  });

  it('leaves out what a deployment does not have', () => {
    const none = { withDevIssuer: false, withDevRelayer: false, withLocalObjects: false, withWebhooks: false };
    const bare = createOpenApiRig(none).document;
    expect(Object.keys(bare.paths).filter((path) => /dev|objects|webhooks/.test(path))).toEqual([]);
    expect(bare.tags.map(({ name }) => name)).toEqual([
      'Requests',
      'Storage',
      'Relayer whitelist',
      'Administration',
      'Operations',
    ]);
  });

  it('carries the limits in force', () => {
    const { document: limited } = createOpenApiRig({ maxBatchSize: 7, maxBodyBytes: 4321 });
    expect(limited.components.schemas.DataIds).toMatchObject({ minItems: 1, maxItems: 7 });
    expect(limited['x-limits']).toMatchObject({ batchEntries: 7, bodyBytes: 4321 });
    expect(limited.components.responses.BodyTooLarge?.description).toContain('4321');
    expect(limited.info.description).toContain('at most 4321 bytes, a batch array 1 to 7 entries');
  });

  it('has the version of the package and the address of the deployment', () => {
    expect(document.info.version).toBe(gateway.version);
    expect(document.servers.map(({ url }) => url)).toEqual(['http://127.0.0.1:8787']);
  });

  it('describes the headers of every answer of the API', () => {
    const described = { ...document.components.responses };
    for (const { operationId, responses, tags } of operations) {
      if (tags.includes('Local objects')) continue;
      for (const [status, response] of Object.entries(responses)) {
        if (!('$ref' in response)) described[`${operationId} ${status}`] = response;
      }
    }
    for (const [at, { headers = {} }] of Object.entries(described)) {
      const status = at.split(' ')[1];
      expect(Object.keys(headers), at).toEqual(
        expect.arrayContaining(['X-Request-Id', 'Access-Control-Allow-Origin', 'Access-Control-Allow-Methods']),
      );
      expect(Object.hasOwn(headers, 'Retry-After'), at).toBe(
        ['429', '503'].includes(status ?? '') ||
          ['StoreUnavailable', 'readRequest 200', 'feedRequests 200'].includes(at),
      );
      expect(Object.hasOwn(headers, 'Allow'), at).toBe(status === '405');
    }
  });

  it('says what each field means', () => {
    const { schemas } = document.components;
    const silent: string[] = [];
    const isDescribed = (schema: JsonSchema): boolean => {
      const target = schemas[String(schema.$ref).split('/').at(-1) ?? ''];
      const parts = (schema.anyOf ?? []) as readonly JsonSchema[];
      return (
        schema.description !== undefined || (target !== undefined && isDescribed(target)) || parts.some(isDescribed)
      );
    };
    function walk(at: string, node: unknown): void {
      if (typeof node !== 'object' || node === null || /\/(?:examples?|oneOf|dependentSchemas)$/.test(at)) return;
      for (const [key, value] of Object.entries(node)) {
        if (key === 'properties' && !at.endsWith('/properties')) {
          for (const [field, schema] of Object.entries<JsonSchema>(value))
            if (!isDescribed(schema)) silent.push(`${at} ${field}`);
        }
        walk(`${at}/${key}`, value);
      }
    }
    walk('', document);
    expect(silent).toEqual([]);
  });

  it('says of bodies what JSON Schema can say', () => {
    const { AddWebhookBody, ChangeWebhookBody, ClaimRequestsBody, ReportRequestsBody } = document.components.schemas;
    expect(AddWebhookBody?.properties).toMatchObject({ url: { maxLength: 2000 }, events: { uniqueItems: true } });
    expect(ChangeWebhookBody).toMatchObject({ minProperties: 1 });
    expect(ClaimRequestsBody?.properties).toMatchObject({ requestIds: { uniqueItems: true } });
    expect(ReportRequestsBody?.properties).toMatchObject({ reports: { uniqueItems: true } });
  });

  it('tells records apart by their action', () => {
    const { compile } = createOpenApiRig();
    const isRecord = compile(schemaRef('RequestRecord') as unknown as JsonSchema);
    const record = exampleRecord('WRITE_DATA_FOR', 'pending');
    expect(isRecord(record)).toBe(true);
    expect(isRecord({ ...Object(record), action: 'DELETE_PRISM_FOR' })).toBe(false);
  });

  it('describes what receivers of webhooks get', () => {
    const { webhooks = {} } = document;
    expect(Object.keys(webhooks)).toEqual(WEBHOOK_EVENTS);
    const { compile } = createOpenApiRig();
    for (const { post } of Object.values(webhooks)) {
      const media = post?.requestBody?.content['application/json'];
      const isMessage = compile(media?.schema ?? {});
      expect(isMessage(media?.examples?.event?.value) ? null : isMessage.errors).toBeNull();
    }
  });

  it('names nothing of the machine that it was made on', () => {
    const text = JSON.stringify(document);
    for (const place of [process.cwd(), process.env.HOME, 'file://', 'node_modules']) {
      if (place !== undefined && place.length > 1) expect(text).not.toContain(place);
    }
  });
});
