import { createServer } from 'node:http';
import { listenOnLoopback } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { hasFastShape } from '../../test/rigs/hasFastShape.ts';
import { createByteBudget } from '../http/byteBudget.ts';
import type { TransportRequest } from '../http/request.ts';
import { readNodeRequest } from './readNodeRequest.ts';

test('no request is a table of its own, also once it was asked for its signal', async () => {
  const bodies = createByteBudget({ maxBytes: 1000, now: () => 0 });
  const read: TransportRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    const request = readNodeRequest(incoming, { target: { path: '/', query: '' }, bodies });
    expect(request.signal.aborted).toBe(false);
    read.push(request);
    outgoing.end();
  });
  const { url, close } = await listenOnLoopback(server);
  for (let i = 0; i < 3; i++) await (await fetch(url)).text();
  await close();
  expect(read.map(hasFastShape)).toEqual([true, true, true]);
  expect(read.map(({ raw }) => hasFastShape(raw.headers))).toEqual([true, true, true]);
});
