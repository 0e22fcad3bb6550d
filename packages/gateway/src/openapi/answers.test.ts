import { CORS_HEADERS } from '@prism-gateway/protocol';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAnswerChecks } from '../../test/rigs/answerChecks.ts';
import { type Ask, type DocumentedGateway, startDocumentedGateway } from '../../test/rigs/documentedGateway.ts';
import { FAILURE_CASES } from '../../test/rigs/failureCases.ts';
import { createOpenApiRig } from '../../test/rigs/openApiRig.ts';
import { EXAMPLE_REQUEST_ID } from './examples/successes.ts';

const { expectDocumented, exampleOf, bodyExamplesOf } = createAnswerChecks(createOpenApiRig({ maxBatchSize: 100 }));
const { WRITE_DATA_FOR: write } = EXAMPLE_REQUESTS;

describe('the service answers as the document says', () => {
  let gateway: DocumentedGateway;
  let admin: Readonly<Record<string, string>>;

  beforeAll(async () => {
    gateway = await startDocumentedGateway();
    admin = { 'x-admin-key': gateway.adminKey };
    for (const relayer of ['first', 'second'] as const) {
      const body = { address: gateway.addressOf(relayer) };
      const response = await gateway.ask({ method: 'POST', path: '/admin/relayers', body, headers: admin });
      await expectDocumented('addRelayer', response);
    }
  });
  afterAll(() => gateway.close());

  async function expectExample(operationId: string, status: number, example: string, ask: Ask): Promise<void> {
    const response = await gateway.ask(ask);
    expect(response.status).toBe(status);
    expect(await expectDocumented(operationId, response)).toEqual(exampleOf(operationId, status, example));
  }

  async function expectSuccess(operationId: string, ask: Ask): Promise<Record<string, unknown>> {
    const response = await gateway.ask(ask);
    expect(Math.floor(response.status / 100), `${operationId} ${response.status}`).toBe(2);
    return Object(await expectDocumented(operationId, response));
  }

  async function tokenOf(sub: string, expiresIn = 3600): Promise<string> {
    const ask = { method: 'POST', path: '/dev/identity/token', body: { sub, expiresIn } };
    return String((await expectSuccess('issueDevelopmentToken', ask)).access_token);
  }

  it.each(FAILURE_CASES)('%s %i: %s', (operationId, status, example, ask) =>
    expectExample(operationId, status, example, ask),
  );

  it('validation errors of the whitelist', async () => {
    const body = { address: 'relayer.eth', label: '', role: 'official' };
    await expectExample('addRelayer', 400, 'everyFault', {
      method: 'POST',
      path: '/admin/relayers',
      body,
      headers: admin,
    });
    await expectExample('removeRelayer', 400, 'notAddress', {
      method: 'DELETE',
      path: '/admin/relayers/0x70',
      headers: admin,
    });
  });

  it('a stranger with a good signature', async () => {
    const ask = { method: 'GET', path: '/requests?status=pending', relayer: 'stranger' } as const;
    const response = await gateway.ask(ask);
    const { error } = Object(await expectDocumented('listRequests', response));
    const documented = Object(exampleOf('listRequests', 401, 'whitelist')).error;
    const address = /0x[0-9a-fA-F]{40}/;
    expect(error.replace(address, '')).toBe(documented.replace(address, ''));
  });

  it('a request of each action, and their list', async () => {
    for (const [action, { value }] of Object.entries(bodyExamplesOf('createRequest'))) {
      const record = await expectSuccess('createRequest', { method: 'POST', path: '/requests', body: value });
      const documented = Object(exampleOf('createRequest', 201, action));
      expect(Object.keys(record)).toEqual(Object.keys(documented));
      expect(record).toMatchObject({ action, params: documented.params, signer: documented.signer });
    }
    const list = await expectSuccess('listRequests', {
      method: 'GET',
      path: `/requests?signer=${write.params.signer}&limit=5`,
    });
    expect(list).toMatchObject({ count: 5, lastKey: expect.any(String) });
  });

  it('the life of a request, and every conflict in it', async () => {
    const { requestId } = await expectSuccess('createRequest', { method: 'POST', path: '/requests', body: write });
    const bodies = bodyExamplesOf('updateRequest');
    const update = (relayer: 'first' | 'second', name: string): Ask => ({
      method: 'PATCH',
      path: `/requests/${requestId}`,
      relayer,
      body: bodies[name]?.value,
    });
    await expectExample('updateRequest', 409, 'notClaimed', update('first', 'success'));
    const claimed = await expectSuccess('updateRequest', update('first', 'processing'));
    expect(Object.keys(claimed)).toEqual(Object.keys(Object(exampleOf('updateRequest', 200, 'processing'))));
    await expectExample('updateRequest', 409, 'claimLost', update('second', 'processing'));
    await expectExample('updateRequest', 409, 'notOwner', update('second', 'success'));
    const done = await expectSuccess('updateRequest', update('first', 'success'));
    expect(Object.keys(done)).toEqual(Object.keys(Object(exampleOf('updateRequest', 200, 'success'))));
    await expectExample('updateRequest', 409, 'ended', update('first', 'failed'));
    const read = await expectSuccess('readRequest', { method: 'GET', path: `/requests/${requestId}` });
    expect(read).toEqual(done);
  });

  it('the whitelist', async () => {
    const list = await expectSuccess('listRelayers', { method: 'GET', path: '/admin/relayers', headers: admin });
    expect(list.count).toBe(2);
    const path = `/admin/relayers/${gateway.addressOf('stranger').toLowerCase()}`;
    const removed = await expectSuccess('removeRelayer', { method: 'DELETE', path, headers: admin });
    expect(removed.message).toBe(Object(exampleOf('removeRelayer', 200, 'removed')).message);
  });

  it('presigned URLs, and the objects behind them', async () => {
    const headers = { authorization: `Bearer ${await tokenOf('alice')}` };
    const signed: Record<string, { url: string; method: string; headers: Record<string, string> }> = {};
    for (const [operation, { value }] of Object.entries(bodyExamplesOf('signStorage'))) {
      const answer = await expectSuccess('signStorage', {
        method: 'POST',
        path: '/storage/sign',
        body: value,
        headers,
      });
      const documented = Object(exampleOf('signStorage', 200, operation));
      expect({ method: answer.method, headers: answer.headers }).toEqual({
        method: documented.method,
        headers: documented.headers,
      });
      const shape = (url: unknown) =>
        String(url)
          .replace(/expires=\d+/, '')
          .replace(/signature=[\w-]+$/, '');
      expect(shape(answer.url)).toBe(shape(documented.url));
      signed[operation] = { url: String(answer.url), method: documented.method, headers: documented.headers };
    }
    const call = async (operation: string, body?: string) => {
      const { url = '', method = '', headers: sent = {} } = signed[operation] ?? {};
      return gateway.ask({
        method,
        path: url,
        headers: { 'content-type': 'application/octet-stream', ...sent },
        ...(body !== undefined && { body }),
      });
    };
    const steps = [
      ['headObject', 404, await call('head')],
      ['getObject', 404, await call('get')],
      ['putObject', 400, await call('put', 'hullo')],
      ['putObject', 200, await call('put', 'hello')],
      ['putObject', 412, await call('put', 'hello')],
      ['headObject', 200, await call('head')],
      ['deleteObject', 204, await call('delete')],
      ['getObject', 403, await gateway.ask({ method: 'GET', path: `${signed.get?.url}0` })],
    ] as const;
    for (const [operationId, status, response] of steps) {
      expect([operationId, response.status]).toEqual([operationId, status]);
      const body = await expectDocumented(operationId, response);
      if (status >= 400 && body !== undefined) expect(body).toEqual(exampleOf(operationId, status, 'refused'));
    }
  });

  it('tokens that are revoked, or too old', async () => {
    const sign = (token: string): Ask => ({
      method: 'POST',
      path: '/storage/sign',
      body: {},
      headers: { authorization: `Bearer ${token}` },
    });
    const revoked = await tokenOf('alice');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await gateway.ask({ method: 'POST', path: '/dev/identity/revoke', body: `token=${revoked}`, headers: form });
    await expectExample('signStorage', 401, 'revoked', sign(revoked));
    const good = await tokenOf('alice', 60);
    const body = '{"projectId":"0x12","operation":"list","path":"/etc"}';
    await expectExample('signStorage', 400, 'everyFault', { ...sign(good), body });
    gateway.advance(70_000);
    await expectExample('signStorage', 401, 'expired', sign(good));
  });

  it.each([
    ['readHealth', '/health'],
    ['readReadiness', '/ready'],
    ['readMetrics', '/metrics'],
    ['readOpenApi', '/openapi.json'],
  ])('%s', async (operationId, path) => {
    await expectSuccess(operationId, { method: 'GET', path });
  });

  it('has the CORS headers of the document on every answer', async () => {
    const { headers } = await gateway.ask({ method: 'GET', path: '/nowhere' });
    for (const [name, value] of Object.entries(CORS_HEADERS)) expect(headers.get(name)).toBe(value);
  });
});

describe('the service refuses what is too much as the document says', () => {
  let gateway: DocumentedGateway;
  afterEach(() => gateway.close());

  it.each([
    ['createRequest', 'writes', 'RATE_LIMIT_WRITES', { method: 'POST', path: '/requests', body: {} }],
    ['readRequest', 'reads', 'RATE_LIMIT_READS', { method: 'GET', path: `/requests/${EXAMPLE_REQUEST_ID}` }],
    ['signStorage', 'authFailures', 'RATE_LIMIT_AUTH_FAILURES', { method: 'POST', path: '/storage/sign', body: {} }],
    ['createRequest', 'writeBytes', 'RATE_LIMIT_WRITE_BYTES', { method: 'POST', path: '/requests', body: {} }],
    ['listRelayers', 'adminFailures', 'RATE_LIMIT_ADMIN_FAILURES', { method: 'GET', path: '/admin/relayers' }],
  ])('%s: %s', async (operationId, example, setting, ask) => {
    gateway = await startDocumentedGateway({ [setting]: '1' });
    await gateway.ask(ask);
    const response = await gateway.ask(ask);
    expect(response.status).toBe(429);
    const { error } = Object(await expectDocumented(operationId, response));
    const documented = Object(exampleOf(operationId, 429, example)).error;
    expect(error.replace(/\d+ s/, '')).toBe(documented.replace(/\d+ s/, ''));
    expect(response.headers.get('retry-after')).toBe(/(\d+) s/.exec(error)?.[1]);
    expect(response.headers.get('ratelimit')).not.toBeNull();
  });
});
