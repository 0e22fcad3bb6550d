import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenOnLoopback, startBlackHole } from '@prism-gateway/testing';
import { afterEach, expect, test } from 'vitest';
import { createRpc } from './createRpc.ts';

interface Call {
  readonly id: number;
  readonly method: string;
}
type Answer = (calls: readonly Call[], attempt: number) => unknown;

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server[Symbol.asyncDispose]();
});

/** A node that answers as the test says; text is sent as it is. */
async function startNode(answer: Answer) {
  let attempts = 0;
  const server = await listenOnLoopback(
    createServer(async (incoming, outgoing) => {
      const body = (await json(incoming)) as Call | readonly Call[];
      attempts += 1;
      const said = answer(Array.isArray(body) ? body : [body as Call], attempts);
      outgoing.end(typeof said === 'string' ? said : JSON.stringify(said));
    }),
  );
  open.push({ [Symbol.asyncDispose]: server.close });
  const rpc = createRpc({ rpcUrl: `${server.url}/secret-key`, wait: async () => undefined, random: () => 0 });
  return { rpc, attempts: () => attempts };
}

test('calls of one tick go together, and each gets its own answer in whatever order they come', async () => {
  const { rpc, attempts } = await startNode((calls) =>
    calls.map(({ id, method }) => ({ id, result: method })).reverse(),
  );
  expect(await Promise.all(['a', 'b', 'c'].map((method) => rpc.call(method, [])))).toEqual(['a', 'b', 'c']);
  expect(attempts()).toBe(1);
});

test('an answer with a foreign id is nobody’s, and its call is asked again', async () => {
  const { rpc } = await startNode((calls, attempt) =>
    calls.map(({ id, method }, index) => ({ id: attempt === 1 && index === 0 ? 999 : id, result: method })),
  );
  expect(await Promise.all(['a', 'b', 'c'].map((method) => rpc.call(method, [])))).toEqual(['a', 'b', 'c']);
});

test.each([
  ['no JSON', '<html>'],
  ['an error of the node', { id: 0, error: { code: -32_603, message: 'internal' } }],
])('%s is asked again, four times in all, and the error holds no URL', async (_, answer) => {
  const { rpc, attempts } = await startNode(() => answer);
  const failure = await rpc.call('eth_call', []).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'RPC_UNAVAILABLE', message: 'The node did not answer eth_call.' });
  expect(`${(failure as Error).stack}`).not.toContain('secret-key');
  expect(attempts()).toBe(4);
});

test('a revert is an answer, with or without data', async () => {
  const said = (error: object) => startNode((calls) => calls.map(({ id }) => ({ id, error })));
  const withData = await said({ code: 3, message: 'execution reverted', data: '0xabcd' });
  // One alone is answered alone.
  expect(await Promise.all([withData.rpc.attempt('a', []), withData.rpc.attempt('b', [])])).toEqual([
    { reverted: '0xabcd' },
    { reverted: '0xabcd' },
  ]);
  const without = await said({ code: -32_000, message: 'execution reverted' });
  expect(await without.rpc.attempt('a', [])).toEqual({ reverted: undefined });
});

test('a method that the node does not know is told apart', async () => {
  const { rpc, attempts } = await startNode((calls) =>
    calls.map(({ id }) => ({ id, error: { code: -32_601, message: 'no' } })),
  );
  await expect(rpc.attempt('eth_simulateV1', [])).rejects.toMatchObject({ code: 'METHOD_UNSUPPORTED' });
  expect(attempts()).toBe(1);
});

test('a signal ends the wait for a node that hangs', async () => {
  await using node = await startBlackHole();
  const end = new AbortController();
  const rpc = createRpc({ rpcUrl: node.url, wait: async () => undefined, random: () => 0, signal: end.signal });
  const asked = rpc.call('eth_chainId', []);
  await expect.poll(() => node.connections()).toBe(1);
  end.abort();
  await expect(asked).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  await expect(rpc.call('eth_chainId', [])).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  expect(node.connections()).toBe(1);
});
