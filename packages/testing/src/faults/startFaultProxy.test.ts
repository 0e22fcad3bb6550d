import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LoopbackServer, listenOnLoopback } from '../listenOnLoopback.ts';
import { TIMEOUT_MS } from '../timeout.ts';
import { FAULT_KINDS, type FaultKind, shareFaults } from './fault.ts';
import { type FaultProxy, startFaultProxy } from './startFaultProxy.ts';

/** How long a call that is never answered is waited for, in milliseconds. */
const SILENCE_MS = 600;

/** The caller's view of a faulty line, and whether the upstream carried the call out. */
const LINE_FAULTS: readonly [FaultKind, string, boolean][] = [
  ['delay', '201 echo of it', true],
  ['cutBefore', 'TypeError', false],
  ['cutAfter', 'TypeError', true],
  ['cutInAnswer', 'TypeError', true],
  ['stallBefore', 'TimeoutError', false],
  ['stallAfter', 'TimeoutError', true],
  ['stallInAnswer', 'TimeoutError', true],
];
/** The same, with status and type, if the service says that it failed. */
const SERVICE_FAULTS: readonly [FaultKind, number, string, boolean][] = [
  ['throttle', 400, 'ProvisionedThroughputExceededException', false],
  ['serverError', 500, 'InternalServerError', false],
  ['serverErrorAfter', 500, 'InternalServerError', true],
  ['unavailable', 503, 'ServiceUnavailable', false],
];

/** An upstream that answers with what it was sent, and remembers it. */
async function startEcho() {
  const received: string[] = [];
  const server = createServer(async (incoming, response) => {
    const body = await text(incoming);
    received.push(body);
    const headers = { 'x-host': incoming.headers.host ?? '', 'x-url': incoming.url ?? '' };
    if (incoming.method === 'HEAD') response.writeHead(200, { ...headers, 'content-length': '1234' }).end();
    else response.writeHead(201, headers).end(`echo of ${body}`);
  });
  return { received, ...(await listenOnLoopback(server)) };
}

describe('startFaultProxy', () => {
  let echo: LoopbackServer & { readonly received: string[] };
  let proxy: FaultProxy;

  beforeAll(async () => {
    echo = await startEcho();
    proxy = await startFaultProxy({ upstream: echo.url, answers: 'dynamodb', seed: 7 });
  });
  afterAll(async () => {
    await proxy.close();
    await echo.close();
  });

  /** Makes a call that one fault befalls. @returns what came of it, and whether the upstream did it */
  async function callUnder(kind: FaultKind) {
    const before = proxy.counts[kind];
    proxy.planFaults([kind]);
    const body = `${kind} ${Math.random()}`;
    const signal = AbortSignal.timeout(kind.startsWith('stall') ? SILENCE_MS : TIMEOUT_MS);
    const answer = await fetch(`${proxy.url}/`, { method: 'POST', body, signal })
      .then(async (response) => `${response.status} ${await response.text()}`)
      .catch((error: Error) => error.name);
    expect(proxy.counts[kind]).toBe(before + 1);
    return { answer: answer.replace(body, 'it'), isDone: echo.received.includes(body) };
  }

  test('without a fault calls and answers go through as they are', async () => {
    const before = proxy.counts.passed;
    const response = await fetch(`${proxy.url}/a%20b?c=d`, { method: 'PUT', body: 'hello' });
    expect(proxy.counts.passed).toBe(before + 1);
    expect([response.status, await response.text()]).toEqual([201, 'echo of hello']);
    expect(response.headers.get('x-url')).toBe('/a%20b?c=d');
    expect(`http://${response.headers.get('x-host')}`).toBe(proxy.url);
  });

  test('the length in the answer to HEAD is the upstream’s', async () => {
    const response = await fetch(proxy.url, { method: 'HEAD' });
    expect(response.headers.get('content-length')).toBe('1234');
  });

  test.each(LINE_FAULTS)('%s: %s, done: %s', async (kind, answer, isDone) => {
    expect(await callUnder(kind)).toEqual({ answer, isDone });
  });

  test.each(SERVICE_FAULTS)('%s: %i %s, done: %s', async (kind, status, type, isDone) => {
    const result = await callUnder(kind);
    expect(result.answer.slice(0, 3)).toBe(`${status}`);
    expect(result.answer).toContain(`#${type}"`);
    expect(result.isDone).toBe(isDone);
  });

  test('planned faults befall the calls that are picked, in their order', async () => {
    proxy.planFaults(['unavailable', 'serverError'], ({ url }) => url === '/picked');
    const statuses = [];
    for (const path of ['/other', '/picked', '/other', '/picked', '/picked']) {
      statuses.push((await fetch(`${proxy.url}${path}`, { method: 'POST' })).status);
    }
    expect(statuses).toEqual([201, 503, 201, 500, 201]);
    expect(proxy.planned()).toBe(0);
  });

  test('shares are kept to, and the same seed gives the same faults', async () => {
    const kinds = ['throttle', 'unavailable'] as const;
    async function run(): Promise<number[]> {
      await using own = await startFaultProxy({ upstream: echo.url, answers: 's3', seed: 42 });
      own.setShares(shareFaults(0.5, kinds));
      const statuses = [];
      for (let i = 0; i < 200; i++) statuses.push((await fetch(own.url, { method: 'POST' })).status);
      expect(own.counts.throttle).toBeGreaterThan(30);
      expect(own.counts.unavailable).toBeGreaterThan(30);
      expect(own.counts.passed).toBeGreaterThan(70);
      expect(Object.values(own.counts).reduce((sum, count) => sum + count)).toBe(200);
      return statuses;
    }
    expect(await run()).toEqual(await run());
  });

  test('an upstream that is gone is a cut line', async () => {
    const gone = await startEcho();
    await using own = await startFaultProxy({ upstream: gone.url });
    await gone.close();
    await expect(fetch(own.url)).rejects.toThrow(TypeError);
  });

  test('every kind of fault is tried here, and counted', () => {
    const tried = [...LINE_FAULTS, ...SERVICE_FAULTS].map(([kind]) => kind);
    expect(tried.sort()).toEqual([...FAULT_KINDS].sort());
    expect(Object.keys(proxy.counts).sort()).toEqual(['passed', ...FAULT_KINDS].sort());
  });
});
