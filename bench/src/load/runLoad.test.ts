import { createServer } from 'node:http';
import { listenOnLoopback } from '@prism-gateway/testing';
import { afterEach, expect, test } from 'vitest';
import { replay, runLoad } from './runLoad.ts';

const servers: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(servers.splice(0).map(({ close }) => close()))));

/** Answers each call with its number. */
async function startServer(statusOf: (count: number) => number = () => 200) {
  const seen: string[] = [];
  const server = await listenOnLoopback(
    createServer((incoming, outgoing) => {
      seen.push(`${incoming.method} ${incoming.url}`);
      outgoing.writeHead(statusOf(seen.length)).end(String(seen.length));
    }),
  );
  servers.push(server);
  return { port: Number(new URL(server.url).port), seen };
}

test('sends each prepared call once', async () => {
  const { port, seen } = await startServer();
  const calls = Array.from({ length: 7 }, (_, i) => ({ method: 'GET', path: `/${i}` }) as const);
  const result = await runLoad({ port, connections: 3, rounds: 7, steps: [replay(calls)] });
  expect(seen.sort()).toEqual(calls.map(({ path }) => `GET ${path}`));
  expect(result).toMatchObject({ rounds: 7, latencies: expect.objectContaining({ length: 7 }) });
});

test('hands what a step has learned to the next one of the same connection', async () => {
  const { port, seen } = await startServer();
  const create = {
    make: () => ({ method: 'POST', path: '/', body: '{}' }) as const,
    take(body: string, state: { id?: string }) {
      state.id = body;
    },
  };
  const claim = { make: ({ id }: { id?: string }) => ({ method: 'PATCH', path: `/${id}` }) as const };
  const { rounds } = await runLoad({ port, connections: 2, rounds: 3, steps: [create, claim] });
  expect(rounds).toBe(4);
  expect(seen.filter((call) => call.startsWith('PATCH')).length).toBe(4);
  expect(seen.some((call) => call.includes('undefined'))).toBe(false);
});

test('fails on an answer that is none, with its body', async () => {
  const { port } = await startServer((count) => (count === 3 ? 409 : 200));
  const run = runLoad({ port, connections: 1, rounds: 9, steps: [replay([{ method: 'GET', path: '/' }])] });
  await expect(run).rejects.toThrow('status 409 was not expected: 3');
});
