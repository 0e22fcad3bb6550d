import { createServer } from 'node:http';
import { listenOnLoopback } from '@prism-gateway/testing';
import { expect, it } from 'vitest';
import { createHealth } from '../events/createHealth.ts';
import { watchFetch } from './watchFetch.ts';

const reasons = (faults: readonly string[]) => faults.map((fault) => fault.replace(/^.*Z: /, ''));

/** A gateway, whose answers are JSON, or a proxy that answers for it with a page of its own. */
const startServer = (answer: () => { readonly status: number; readonly type?: string }) =>
  listenOnLoopback(
    createServer((_, response) => {
      const { status, type = 'application/json; charset=utf-8' } = answer();
      response.writeHead(status, { 'content-type': type }).end();
    }),
  );

it('tells what the gateway answers: whether it works, refuses this relayer, or is gone', async () => {
  let status = 200;
  const server = await startServer(() => ({ status }));
  const health = createHealth({ parts: ['gateway'], silentMs: 1, now: () => 0, monotonicNow: () => 0 });
  const fetch = watchFetch(globalThis.fetch, { health, now: Date.now });
  const seen: (readonly string[])[] = [];
  for (status of [200, 503, 401, 404]) {
    await fetch(server.url);
    seen.push(reasons(health.faults()));
  }
  await server.close();
  await expect(fetch(server.url)).rejects.toThrow();
  seen.push(reasons(health.faults()));
  expect(seen).toEqual([[], ['it answers 503'], ['it answers 401'], [], ['it does not answer']]);
});

it('says once that the gateway is back, also if a proxy answered for it meanwhile', async () => {
  let answer: { readonly status: number; readonly type?: string } = { status: 200 };
  const server = await startServer(() => answer);
  const health = createHealth({ parts: ['gateway'], silentMs: 1, now: () => 0, monotonicNow: () => 0 });
  let returns = 0;
  const onReturn = () => {
    returns += 1;
  };
  const fetch = watchFetch(globalThis.fetch, { health, now: Date.now, onReturn });
  const seen: number[] = [];
  for (const status of [200, 502, 504, 200, 200, 503, 404, 200]) {
    answer = { status };
    await fetch(server.url);
    seen.push(returns);
  }
  for (answer of [
    { status: 404, type: 'text/plain' },
    { status: 200, type: 'text/html' },
  ]) {
    await fetch(server.url);
    expect(reasons(health.faults())).toEqual([`it answers ${answer.status}, and not as a gateway does`]);
  }
  answer = { status: 404 };
  await fetch(server.url);
  await server.close();
  expect([...seen, returns]).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 2]);
  expect(health.faults()).toEqual([]);
});

it('takes a call that is given up for no answer of the gateway', async () => {
  const health = createHealth({ parts: ['gateway'], silentMs: 1, now: () => 0, monotonicNow: () => 0 });
  health.recordWell('gateway');
  await expect(
    watchFetch(globalThis.fetch, { health, now: Date.now })('http://127.0.0.1:9', { signal: AbortSignal.abort() }),
  ).rejects.toThrow();
  expect(health.faults()).toEqual([]);
});

it('compares the clock with the gateway’s', async () => {
  const server = await startServer(() => ({ status: 200 }));
  const seen: (readonly string[])[] = [];
  for (const shiftMs of [-600_000, -55_000, 600_000, 55_000]) {
    const now = () => Date.now() + shiftMs;
    const health = createHealth({ parts: ['clock'], silentMs: 1, now, monotonicNow: now });
    await watchFetch(globalThis.fetch, { health, now })(server.url);
    seen.push(health.faults());
  }
  await server.close();
  const off = (text: RegExp) => [expect.stringMatching(text)];
  expect(seen).toEqual([
    off(/it is (599|60\d) seconds behind the gateway's/),
    [],
    off(/it is (59\d|60\d) seconds ahead of the gateway's/),
    [],
  ]);
});
