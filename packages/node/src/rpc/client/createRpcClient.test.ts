import { type BatchRefusal, type RpcNode, startBlackHole, startRpcNode } from '@prism-gateway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRpcClient, type RpcClient } from './createRpcClient.ts';

let node: RpcNode;
let client: RpcClient;
let nowMs: number;
beforeEach(async () => {
  nowMs = 1_000_000;
  node = await startRpcNode();
  client = createRpcClient({ rpcUrl: `${node.url}/secret-key`, timeoutMs: 30_000, monotonicNow: () => nowMs });
});
afterEach(async () => {
  client.close();
  await node.stop();
});

const ask = (methods: readonly string[]) => Promise.all(methods.map((method) => client.request(method, [])));
const batchSizes = () => node.exchanges.map(({ calls, isBatch }) => (isBatch ? calls.length : 0));
const methodsOf = (count: number) => Array.from({ length: count }, (_, index) => `method${index}`);

describe('calls', () => {
  test('of one turn share a request, and are answered by their ids in any order', async () => {
    node.behave({ twist: (answers) => answers.toReversed() });
    expect(await ask(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    expect(batchSizes()).toEqual([3]);
  });

  test('alone go alone, with their params', async () => {
    expect(await client.request('a', ['latest', { to: '0x' }])).toBe('a');
    expect(node.exchanges[0]).toMatchObject({ isBatch: false, calls: [{ params: ['latest', { to: '0x' }] }] });
  });

  test('too many, or too long, for one request are several', async () => {
    await ask(methodsOf(120));
    expect(batchSizes().toSorted((a, b) => b - a)).toEqual([50, 50, 20]);
    await Promise.all(methodsOf(4).map((method) => client.request(method, ['x'.repeat(400_000)])));
    expect(batchSizes().slice(3)).toEqual([2, 2]);
  });

  test('of a client that is closed end at once', async () => {
    await using hole = await startBlackHole();
    const closing = createRpcClient({ rpcUrl: hole.url });
    const asked = closing.request('a', []);
    await expect.poll(() => hole.connections()).toBe(1);
    closing.close();
    await expect(asked).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE', message: 'closed' });
    await expect(closing.request('a', [])).rejects.toMatchObject({ message: 'closed' });
    expect(hole.connections()).toBe(1);
  });
});

describe('credentials in the URL', () => {
  test.each([
    ['user:p%40ss%C3%A9', 'user:p@ssé'],
    [':only-a-password', ':only-a-password'],
    ['only-a-user', 'only-a-user:'],
  ])('%s go into a header', async (userInfo, given) => {
    const known = createRpcClient({ rpcUrl: node.url.replace('//', `//${userInfo}@`) });
    expect(await known.request('a', [])).toBe('a');
    expect(node.exchanges[0]?.headers.authorization).toBe(`Basic ${Buffer.from(given).toString('base64')}`);
  });
});

describe.each<BatchRefusal>(['error', 'status', 'entry'])('a node that refuses batches by an %s', (refusal) => {
  test('without batches is asked call by call after a few tries', async () => {
    node.behave({ maxBatch: 1, refusal });
    for (let round = 0; round < 4; round++) expect(await ask(methodsOf(20))).toEqual(methodsOf(20));
    const refused = batchSizes().filter((size) => size > 0);
    expect(refused.length).toBeLessThanOrEqual(6);
    node.exchanges.slice(-20).forEach(({ isBatch }) => void expect(isBatch).toBe(false));
  });

  test('that are large gets small ones', async () => {
    node.behave({ maxBatch: 15, refusal });
    expect(await ask(methodsOf(50))).toEqual(methodsOf(50));
    const before = node.exchanges.length;
    expect(await ask(methodsOf(50))).toEqual(methodsOf(50));
    // They go out at once, and come in as the machine has it.
    expect(
      batchSizes()
        .slice(before)
        .toSorted((a, b) => b - a),
    ).toEqual([12, 12, 12, 12, 2]);
  });

  test('for a moment gets large ones again after ten minutes', async () => {
    node.behave({ maxBatch: 15, refusal });
    await ask(methodsOf(50));
    node.behave({});
    await ask(methodsOf(2));
    nowMs += 600_000;
    const before = node.exchanges.length;
    await ask(methodsOf(50));
    expect(
      batchSizes()
        .slice(before)
        .toSorted((a, b) => b - a),
    ).toEqual([48, 2]);
  });
});

test('a call that the node refuses alone as well does not end the batches', async () => {
  node.behave({
    fail: (_, calls) => (calls.some(({ method }) => method === 'bad') ? { status: 400 } : undefined),
  });
  const [bad, good] = await Promise.allSettled([client.request('bad', []), client.request('good', [])]);
  expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'RPC_UNAVAILABLE', status: 400 } });
  expect(good).toEqual({ status: 'fulfilled', value: 'good' });
  const before = node.exchanges.length;
  await ask(methodsOf(50));
  expect(batchSizes().slice(before)).toEqual([50]);
});

describe('a node that asks for patience', () => {
  const busy = (status: number, headers: Record<string, string>) =>
    node.behave({ fail: (n) => (n === 1 ? { status, headers } : undefined) });

  test.each([429, 503])('by %d with Retry-After is left alone for as long', async (status) => {
    busy(status, { 'retry-after': '3' });
    await expect(client.request('a', [])).rejects.toMatchObject({
      code: 'RPC_UNAVAILABLE',
      message: `HTTP status ${status}`,
      status,
      retryAfterMs: 3000,
    });
    nowMs += 2500;
    await expect(client.request('a', [])).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE', retryAfterMs: 500 });
    expect(node.exchanges).toHaveLength(1);
    nowMs += 500;
    expect(await client.request('a', [])).toBe('a');
  });

  test.each([
    ['a date', { date: 'Sun, 22 Nov 2026 10:00:00 GMT', 'retry-after': 'Sun, 22 Nov 2026 10:00:07 GMT' }, 7000],
    ['a week', { 'retry-after': '604800' }, 60_000],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
  ])('by %s is understood', async (_, headers, retryAfterMs) => {
    busy(429, headers);
    await expect(client.request('a', [])).rejects.toMatchObject({ retryAfterMs });
  });

  test.each([-32_005, -32_007, 429])('by the error %d has not answered', async (code) => {
    node.behave({ answer: () => ({ error: { code, message: 'slow down' } }) });
    await expect(client.request('a', [])).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE', message: 'rate-limited' });
  });
});

describe('an answer', () => {
  const faulty: readonly [string, (answer: object) => unknown][] = [
    ['to another call', (answer) => ({ ...answer, id: 987_654 })],
    ['of no version', (answer) => ({ ...answer, jsonrpc: undefined })],
    ['without a result', (answer) => ({ ...answer, result: undefined })],
    ['with half an error', (answer) => ({ ...answer, error: { code: 'x' } })],
    ['that is a list', (answer) => [answer]],
    ['that is null', () => null],
  ];
  test.each(faulty)('%s is none', async (_, twist) => {
    node.behave({ twist: ([answer = {}]) => twist(answer) });
    await expect(client.request('a', [])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
  });

  test.each([
    ['that is no JSON', 'garbage', 'the answer is not JSON'],
    ['that never comes', 'hang-up', expect.stringMatching(/^no answer \(/)],
    ['of a server that fails', { status: 500 }, 'HTTP status 500'],
  ] as const)('%s is none, and the URL is not told', async (_, failure, message) => {
    node.behave({ fail: () => failure });
    const error = await client.request('a', []).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'RpcUnavailableError', code: 'RPC_UNAVAILABLE', message });
    expect(`${(error as Error).stack}${JSON.stringify(error)}`).not.toContain('secret-key');
    expect((error as Error).cause).toBeUndefined();
  });

  test('that is too late is none', async () => {
    node.behave({ fail: () => 'silent' });
    const hasty = createRpcClient({ rpcUrl: node.url, timeoutMs: 20 });
    await expect(hasty.request('a', [])).rejects.toMatchObject({ message: 'no answer within 20 ms' });
  });

  test('without an end is not read to the end', async () => {
    node.behave({ fail: () => 'endless' });
    await expect(client.request('a', [])).rejects.toMatchObject({
      code: 'RPC_ANSWER_TOO_LARGE',
      message: 'the answer is larger than 32 MiB',
    });
  });

  test('that is too large for a batch is asked for call by call', async () => {
    node.behave({ fail: (_, calls) => (calls.length > 1 ? 'endless' : undefined) });
    expect(await ask(['a', 'b'])).toEqual(['a', 'b']);
  });

  test('that is an error is one, with its data, whatever the status', async () => {
    const error = { code: 3, message: 'execution reverted', data: '0x12' };
    node.behave({ answer: () => ({ error }) });
    await expect(client.request('a', [])).rejects.toMatchObject({ name: 'RpcAnswerError', ...error });
    node.behave({ fail: () => ({ status: 400, body: { jsonrpc: '2.0', id: null, error } }) });
    await expect(client.request('a', [])).rejects.toMatchObject({ name: 'RpcAnswerError', ...error });
  });

  test('to a batch may leave some out, which spoils only those', async () => {
    node.behave({ twist: (answers) => answers.slice(1) });
    const [missing, there] = await Promise.allSettled([client.request('a', []), client.request('b', [])]);
    expect(missing).toMatchObject({ status: 'rejected', reason: { name: 'RpcUnavailableError' } });
    expect(there).toEqual({ status: 'fulfilled', value: 'b' });
  });

  test('to a batch must be a list', async () => {
    node.behave({ twist: () => ({ what: 'ever' }) });
    const both = await Promise.allSettled([client.request('a', []), client.request('b', [])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
