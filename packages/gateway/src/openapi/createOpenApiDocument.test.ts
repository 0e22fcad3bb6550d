import { ROUTES } from '@prism-gateway/protocol';
import { WEBHOOK_ROUTES } from '@prism-gateway/protocol/webhooks';
import { describe, expect, it } from 'vitest';
import gateway from '../../package.json' with { type: 'json' };
import { createOpenApiRig } from '../../test/rigs/openApiRig.ts';
import type { OpenApiDocument, Operation } from './document.ts';

const routes = Object.entries({ ...ROUTES, ...WEBHOOK_ROUTES });

function operationsOf({ paths }: OpenApiDocument): (Operation & { readonly at: string })[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, at: `${method.toUpperCase()} ${path}` })),
  );
}

describe('createOpenApiDocument', () => {
  const { document } = createOpenApiRig();
  const operations = operationsOf(document);

  it.each(routes)(
    'describes %s with every status that it answers',
    (name, { method, path, success, errors, ...more }) => {
      const operation = operations.find(({ operationId }) => operationId === name);
      expect(operation?.at).toBe(`${method} ${path}`);
      const others = 'otherSuccess' in more ? [more.otherSuccess] : [];
      const expected = [success, ...others, ...errors, 405].map(String);
      expect(Object.keys(operation?.responses ?? {}).toSorted()).toEqual(expected.toSorted());
    },
  );

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
        status === '429' || status === '503' || at === 'StoreUnavailable',
      );
      expect(Object.hasOwn(headers, 'Allow'), at).toBe(status === '405');
    }
  });

  it('names nothing of the machine that it was made on', () => {
    const text = JSON.stringify(document);
    for (const place of [process.cwd(), process.env.HOME, 'file://', 'node_modules']) {
      if (place !== undefined && place.length > 1) expect(text).not.toContain(place);
    }
  });
});
