import { feedPageSchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { faultPaths } from '../rig/faults.ts';
import type { HttpResponse } from '../rig/httpMessage.ts';
import { chainOf, claim, createRequest, readRecord, writeBody } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';
import { waitOutLimits } from '../rig/waitOutLimits.ts';

const target = readTarget();
const relayer = relayerAt(target, 9);

const read = (requestId: string, query: Record<string, string>) =>
  callApi(target, { path: `/requests/${requestId}`, query });
const feed = (query: Record<string, string>) => callAsRelayer(target, { path: '/requests/feed', query, relayer });

/** Asks until something has happened: a gateway that lets no call wait says when to ask again (WAIT-3). */
const untilMoved = (ask: () => Promise<HttpResponse>) =>
  waitOutLimits(ask, ({ status, headers }) => (status === 200 ? (headers.get('retry-after') ?? undefined) : undefined));

function readFeed(answer: HttpResponse) {
  expect(answer.status, answer.text).toBe(200);
  const page = feedPageSchema.parse(answer.body);
  expect(page.count).toBe(page.items.length);
  return { ids: page.items.map(({ requestId }) => requestId), items: page.items, cursor: page.cursor };
}

covers(['wait.moved', 'readRequest.200'], 'a wait ends with the move that it waits for', async () => {
  const { requestId } = await createRequest(target);
  const waiting = untilMoved(() => read(requestId, { seen: 'pending', wait: '25' }));
  const claimed = await claim(target, requestId, relayer);
  const answered = readRecord(await waiting);
  // A deployment that lets no call wait has answered before the move: whoever asks again learns it.
  if (answered.status === 'processing') expect(answered).toEqual(claimed);
  expect(readRecord(await read(requestId, { seen: 'pending', wait: '25' })), 'it has moved already').toEqual(claimed);
  // An earlier name of it.
  expect(readRecord(await read(requestId, { status: 'pending', wait: '25' }))).toEqual(claimed);
});

covers(['wait.over'], 'after the wait the record is answered as it is', async () => {
  const record = await createRequest(target);
  for (const wait of ['0', '1']) {
    expect(readRecord(await read(record.requestId, { seen: 'pending', wait }))).toEqual(record);
  }
});

covers(['readRequest.400', 'readRequest.404'], 'a wait that is not one is refused', async () => {
  const { requestId } = await createRequest(target);
  for (const [query, path] of [
    [{ seen: 'pending', wait: '26' }, 'wait'],
    [{ seen: 'pending', wait: '-1' }, 'wait'],
    [{ seen: 'pending', wait: '1.5' }, 'wait'],
    [{ wait: '5' }, 'seen'],
    [{ seen: 'done', wait: '5' }, 'seen'],
  ] as const) {
    const answer = await read(requestId, query);
    expect([answer.status, faultPaths(answer)]).toEqual([400, [path]]);
  }
  const unknown = '0197c2a4-5b1e-7c3d-8f60-0242ac12ffff';
  expect((await read(unknown, { seen: 'pending', wait: '25' })).status).toBe(404);
});

covers(
  ['feedRequests.200', 'feed.pending', 'feed.never'],
  'the feed gives what is pending, and what becomes pending after it, as soon as it does',
  async () => {
    const chainName = chainOf(target, '.feed');
    const body = () => writeBody(target, { chainName });
    const [first, second] = [await createRequest(target, body()), await createRequest(target, body())];
    const start = readFeed(await feed({ chainName }));
    expect(start.items).toEqual([first, second]);
    const waiting = untilMoved(() => feed({ chainName, seen: start.cursor, wait: '25' }));
    const third = await createRequest(target, body());
    const next = readFeed(await waiting);
    expect(next.ids).toContain(third.requestId);
    await claim(target, first.requestId, relayer);
    const released = callAsRelayer(target, { method: 'POST', path: `/requests/${first.requestId}/release`, relayer });
    expect((await released).status).toBe(200);
    const last = await untilMoved(() => feed({ chainName, seen: next.cursor, wait: '25' }));
    expect(readFeed(last).ids).toContain(first.requestId);
  },
);

covers(['feed.cursor'], 'a cursor is there also where there is nothing, and belongs to its chain', async () => {
  const chainName = chainOf(target, '.feed-now');
  const before = await createRequest(target, writeBody(target, { chainName }));
  const now = readFeed(await feed({ chainName, from: 'now' }));
  // What came less than a second ago may be given: on DynamoDB two processes' clocks may differ by as much.
  expect(now.ids.filter((id) => id !== before.requestId)).toEqual([]);
  expect(readFeed(await feed({ chainName, seen: now.cursor, wait: '1' })).ids).toEqual([]);
  const later = await createRequest(target, writeBody(target, { chainName }));
  const moved = await untilMoved(() => feed({ chainName, seen: now.cursor, wait: '25' }));
  expect(readFeed(moved).ids).toEqual([later.requestId]);
  const foreign = await feed({ chainName: chainOf(target), seen: now.cursor });
  expect([foreign.status, faultPaths(foreign)]).toEqual([400, ['seen']]);
});

covers(['feedRequests.400', 'feedRequests.401'], 'the feed is for relayers, and of one chain', async () => {
  const chainName = chainOf(target);
  expect((await callApi(target, { path: '/requests/feed', query: { chainName } })).status).toBe(401);
  for (const [query, path] of [
    [{}, 'chainName'],
    [{ chainName, wait: '60' }, 'wait'],
    [{ chainName, from: 'yesterday' }, 'from'],
    [{ chainName, seen: 'x y' }, 'seen'],
    [{ chainName, cursor: 'dGFtcGVyZWQ' }, 'cursor'],
  ] as const) {
    const answer = await feed(query);
    expect([answer.status, faultPaths(answer)]).toEqual([400, [path]]);
  }
});
