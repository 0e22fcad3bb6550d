import { createServer } from 'node:http';
import { listenOnLoopback } from '@prism-gateway/testing';
import { expect, it } from 'vitest';
import { createHealth } from '../events/createHealth.ts';
import { watchFetch } from './watchFetch.ts';

const reasons = (faults: readonly string[]) => faults.map((fault) => fault.replace(/^.*Z: /, ''));

/** A gateway, whose answers are JSON, or a proxy that answers for it with a page of its own. */
const startServer = (answer: () => { readonly status: number; readonly type?: string; readonly body?: string }) =>
  listenOnLoopback(
    createServer((_, response) => {
      const { status, type = 'application/json; charset=utf-8', body } = answer();
      response.writeHead(status, { 'content-type': type }).end(body);
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

it('says in the gateway’s own words why it refuses this relayer, and hands the answer on', async () => {
  const body = JSON.stringify({
    error: 'The relayer is suspended: \u001b[2Jits key was seen.',
    code: 'RELAYER_SUSPENDED',
  });
  const server = await startServer(() => ({ status: 401, body }));
  const health = createHealth({ parts: ['gateway'], silentMs: 1, now: () => 0, monotonicNow: () => 0 });
  const answer = await watchFetch(globalThis.fetch, { health, now: Date.now })(server.url);
  expect(await answer.text()).toBe(body);
  expect(answer.headers.get('content-type')).toMatch('json');
  expect(reasons(health.faults())).toEqual(['it answers 401: The relayer is suspended:  [2Jits key was seen.']);
  await server.close();
});

it('takes no answer to a public call, nor a limit, for one that lets a refused relayer in', async () => {
  let status = 401;
  const server = await startServer(() => ({ status, body: '{"error":"It is suspended."}' }));
  const health = createHealth({ parts: ['gateway'], silentMs: 1, now: () => 0, monotonicNow: () => 0 });
  const fetch = watchFetch(globalThis.fetch, { health, now: Date.now });
  const signed = { headers: { 'x-relayer-address': '0x1' } };
  const seen: (readonly string[])[] = [];
  for (const [next, init] of [
    [401, signed],
    [200, {}],
    [503, {}],
    [200, {}],
    [429, signed],
    [409, signed],
  ] as const) {
    status = next;
    await fetch(server.url, init);
    seen.push(reasons(health.faults()));
  }
  await server.close();
  const refused = ['it answers 401: It is suspended.'];
  expect(seen).toEqual([refused, refused, ['it answers 503'], refused, refused, []]);
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

it('takes one that was not answered in its time for a gateway that is away: it may come back from a backup', async () => {
  const health = createHealth({ parts: ['gateway'], silentMs: 1, now: () => 0, monotonicNow: () => 0 });
  let returns = 0;
  const silent = await listenOnLoopback(createServer());
  const server = await startServer(() => ({ status: 200 }));
  const fetch = watchFetch(globalThis.fetch, { health, now: Date.now, onReturn: () => void returns++ });
  await expect(fetch(silent.url, { signal: AbortSignal.timeout(1) })).rejects.toThrow();
  expect(reasons(health.faults())).toEqual(['it does not answer']);
  await fetch(server.url);
  expect([returns, health.faults()]).toEqual([1, []]);
  await Promise.all([silent.close(), server.close()]);
});

/** The health of a clock that is off by `shiftMs`, after calls that have waited for `waits`. */
async function compareAfter(shiftMs: number, waits: readonly number[]): Promise<readonly string[]> {
  let waitedMs = 0;
  const now = () => Date.now() + shiftMs + waitedMs;
  const health = createHealth({ parts: ['clock'], silentMs: 1, now, monotonicNow: now });
  for (const waitMs of waits) {
    const answer = async () => {
      waitedMs += waitMs;
      return new Response(null, { headers: { date: new Date(now() - shiftMs).toUTCString() } });
    };
    await watchFetch(answer, { health, now })('http://127.0.0.1:9');
  }
  return health.faults();
}

// Shows RELAY-25.
it.each<[number, readonly number[], RegExp | undefined]>([
  [-600_000, [0], /it is (599|60\d) seconds behind the gateway's/],
  [-55_000, [0], undefined],
  [600_000, [0], /it is (59\d|60\d) seconds ahead of the gateway's/],
  [55_000, [0], undefined],
  // A call that has waited does not show that it is well.
  [67_000, [0, 25_000], /seconds ahead/],
  [67_000, [25_000], undefined],
  [-67_000, [25_000], /seconds behind/],
  [0, [25_000], undefined],
])('compares the clock with the gateway’s: %i ms off, waits of %j ms', async (shiftMs, waits, reason) => {
  expect(await compareAfter(shiftMs, waits)).toEqual(reason === undefined ? [] : [expect.stringMatching(reason)]);
});

// Shows RELAY-25.
it('finds a clock well that was set', async () => {
  const now = () => Date.now();
  const health = createHealth({ parts: ['clock'], silentMs: 1, now, monotonicNow: now });
  health.recordFailure('clock', 'it is 67 seconds ahead');
  const server = await startServer(() => ({ status: 200 }));
  await watchFetch(globalThis.fetch, { health, now })(server.url);
  await server.close();
  expect(health.faults()).toEqual([]);
});
