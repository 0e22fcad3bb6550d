import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { type LoopbackServer, listenOnLoopback } from '@prism-gateway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHttpRpc } from './createHttpRpc.ts';
import type { RpcClient } from './rpcClient.ts';

interface Call {
  readonly id: number;
  readonly method: string;
}

/** What the server makes of a body; set by each test. */
let answer: (body: Call | readonly Call[]) => { status?: number; headers?: Record<string, string>; body: unknown };
let bodies: (Call | readonly Call[])[];
let headers: IncomingHttpHeaders;
let server: LoopbackServer;
let rpc: RpcClient;
beforeEach(async () => {
  bodies = [];
  server = await listenOnLoopback(
    createServer(async (request, response) => {
      headers = request.headers;
      // The client under test writes JSON-RPC.
      const body = JSON.parse(await text(request)) as Call | readonly Call[];
      bodies.push(body);
      const { status = 200, headers: more = {}, body: answered } = answer(body);
      response.writeHead(status, more).end(typeof answered === 'string' ? answered : JSON.stringify(answered));
    }),
  );
  rpc = createHttpRpc({ rpcUrl: server.url.replace('//', '//user:p%40ss@'), timeoutMs: 30_000 });
});
afterEach(async () => {
  rpc.close();
  await server.close();
});

const result = (id: number, value: unknown) => ({ jsonrpc: '2.0', id, result: value });
const each = (body: Call | readonly Call[]): readonly Call[] => ('length' in body ? body : [body]);

describe('calls', () => {
  test('of one turn share a request, and are answered by their ids in any order', async () => {
    answer = (body) => ({
      body: each(body)
        .map(({ id, method }) => result(id, method))
        .reverse(),
    });
    expect(await Promise.all(['a', 'b', 'c'].map((method) => rpc.request(method, [])))).toEqual(['a', 'b', 'c']);
    expect(bodies).toHaveLength(1);
  });

  test('alone go alone, with the credentials of the URL in a header', async () => {
    answer = (body) => ({ body: 'id' in body ? result(body.id, 'one') : [] });
    expect(await rpc.request('a', [])).toBe('one');
    expect(headers.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  });

  test('too many for one request are several', async () => {
    answer = (body) => ({ body: each(body).map(({ id }) => result(id, 1)) });
    await Promise.all(Array.from({ length: 120 }, () => rpc.request('a', [])));
    expect(bodies.map((body) => each(body).length)).toEqual([50, 50, 20]);
  });
});

describe('an answer', () => {
  test.each<[string, (id: number) => unknown]>([
    ['to another call', (id) => result(id + 1, '0x1')],
    ['of no version', (id) => ({ id, result: '0x1' })],
    ['without a result', (id) => ({ jsonrpc: '2.0', id })],
    ['with half an error', (id) => ({ jsonrpc: '2.0', id, error: { code: 'x' } })],
    ['that is a list', (id) => [result(id, '0x1')]],
    ['that is no JSON', () => '<html>'],
    ['that is null', () => null],
    ['that asks for patience', (id) => ({ jsonrpc: '2.0', id, error: { code: -32_005, message: 'slow down' } })],
  ])('%s is none', async (_, make) => {
    answer = (body) => ({ body: make('id' in body ? body.id : 0) });
    await expect(rpc.request('a', [])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
  });

  test('that is an error is one, with its data', async () => {
    const error = { code: 3, message: 'execution reverted', data: '0x12' };
    answer = (body) => ({ body: { jsonrpc: '2.0', id: 'id' in body ? body.id : 0, error } });
    await expect(rpc.request('a', [])).rejects.toMatchObject({ name: 'RpcAnswerError', ...error });
  });

  test('to a batch may leave some out, which spoils only those', async () => {
    answer = (body) => ({
      body: each(body)
        .slice(1)
        .map(({ id }) => result(id, 'there')),
    });
    const [missing, there] = await Promise.allSettled([rpc.request('a', []), rpc.request('b', [])]);
    expect(missing).toMatchObject({ status: 'rejected', reason: { name: 'RpcUnavailableError' } });
    expect(there).toEqual({ status: 'fulfilled', value: 'there' });
  });

  test('to a batch must be a list', async () => {
    answer = () => ({ body: { what: 'ever' } });
    const both = await Promise.allSettled([rpc.request('a', []), rpc.request('b', [])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  test('that refuses batches has the calls made one by one from then on', async () => {
    const refusal = { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'no batches' } };
    answer = (body) => ({ body: 'id' in body ? result(body.id, body.method) : refusal });
    expect(await Promise.all([rpc.request('a', []), rpc.request('b', [])])).toEqual(['a', 'b']);
    expect(await Promise.all([rpc.request('c', []), rpc.request('d', [])])).toEqual(['c', 'd']);
    expect(bodies.filter((body) => 'length' in body)).toHaveLength(1);
  });

  test('of too many calls says when to come back', async () => {
    answer = () => ({ status: 429, headers: { 'retry-after': '3' }, body: '' });
    await expect(rpc.request('a', [])).rejects.toMatchObject({ name: 'RpcUnavailableError', retryAfterMs: 3000 });
  });
});
