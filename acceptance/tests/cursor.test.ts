import type { RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import { faultPaths } from '../rig/faults.ts';
import { randomHex } from '../rig/randomHex.ts';
import { chainOf, claim, createRequest, readPage, writeBody } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();
const relayer = relayerAt(target, 4);

type Query = Record<string, string>;
/** Asks with auth, which a list by signer does not mind. */
const list = (query: Query) => callAsRelayer(target, { path: '/requests', query, relayer });

async function createMany(over: { signer: string; chainName?: string }, count: number): Promise<RequestRecord[]> {
  const { signer, chainName = chainOf(target) } = over;
  const body = writeBody(target, { chainName, params: { signer } });
  return await Promise.all(Array.from({ length: count }, () => createRequest(target, body)));
}

async function walk(query: Query): Promise<RequestPage[]> {
  const pages: RequestPage[] = [];
  for (let lastKey: string | null = ''; lastKey !== null; lastKey = pages.at(-1)?.lastKey ?? null) {
    pages.push(readPage(await list(lastKey === '' ? query : { ...query, lastKey })));
    expect(pages.length, 'a walk ends').toBeLessThan(100);
  }
  return pages;
}

const idsOf = (pages: readonly RequestPage[]) => pages.flatMap(({ items }) => items.map(({ requestId }) => requestId));

async function firstCursor(query: Query): Promise<string> {
  return await eventually(async () => {
    const { lastKey } = readPage(await list({ limit: '1', ...query }));
    expect(lastKey).not.toBeNull();
    return lastKey ?? '';
  });
}

covers(
  ['list.walk', 'list.lastPage', 'cursor.form', 'list.limit'],
  'a walk gives each record once and in order, with any page size and filter',
  async () => {
    const signer = randomHex(20);
    const chainName = chainOf(target, '.walk');
    const records = await createMany({ signer, chainName }, 23);
    const ordered = records.toSorted(
      (a, b) => a.createdAt.localeCompare(b.createdAt) || (a.requestId < b.requestId ? -1 : 1),
    );
    const expected = ordered.map(({ requestId }) => requestId);
    const filters = [
      { signer },
      { chainName },
      { signer, chainName },
      { chainName, status: 'pending' },
      { signer, chainName, status: 'pending' },
    ];
    for (const filter of filters) {
      for (const [order, ids] of [
        ['asc', expected],
        ['desc', expected.toReversed()],
      ] as const) {
        const pages = await eventually(async () => {
          const walked = await walk({ ...filter, order, limit: '5' });
          expect(idsOf(walked)).toEqual(ids);
          return walked;
        });
        for (const { lastKey } of pages.slice(0, -1)) expect(lastKey).toMatch(/^[A-Za-z0-9_-]+$/);
      }
    }
    for (const limit of ['1', '22', '23', '24', '100'])
      expect(idsOf(await walk({ chainName, limit }))).toEqual(expected);
  },
);

covers(['list.walk'], 'records that are claimed during a walk do not make it lose or double others', async () => {
  const chainName = chainOf(target, '.moving');
  const records = await createMany({ signer: randomHex(20), chainName }, 12);
  const query = { chainName, status: 'pending', limit: '4' };
  await eventually(async () => expect(idsOf(await walk(query))).toHaveLength(12));
  const first = readPage(await list(query));
  const seen = first.items.map(({ requestId }) => requestId);
  // The record that the cursor points at, and one that is to come.
  const rest = records.map(({ requestId }) => requestId).filter((id) => !seen.includes(id));
  const claimed = [seen.at(-1) as string, rest[0] as string];
  for (const requestId of claimed) await claim(target, requestId, relayer);
  const later = await walk({ ...query, lastKey: first.lastKey ?? '' });
  expect(idsOf(later).sort()).toEqual(rest.slice(1).sort());
});

covers(
  ['list.walk', 'list.limit'],
  'the page size may change on the way; a page of exactly the rest ends the walk',
  async () => {
    const signer = randomHex(20);
    const records = await createMany({ signer }, 6);
    await eventually(async () => expect(idsOf(await walk({ signer }))).toHaveLength(6));
    const first = readPage(await list({ signer, limit: '2' }));
    const second = readPage(await list({ signer, limit: '3', lastKey: first.lastKey ?? '' }));
    const third = readPage(await list({ signer, limit: '1', lastKey: second.lastKey ?? '' }));
    expect(new Set(idsOf([first, second, third])).size).toBe(records.length);
    const after = third.lastKey === null ? [] : readPage(await list({ signer, lastKey: third.lastKey })).items;
    expect(after).toEqual([]);
  },
);

covers(['cursor.broken', 'listRequests.400'], 'a broken or tampered cursor is 400', async () => {
  const signer = randomHex(20);
  await createMany({ signer }, 3);
  const lastKey = await firstCursor({ signer });
  expect((await list({ signer, lastKey })).status).toBe(200);
  const flip = (place: number) =>
    `${lastKey.slice(0, place)}${lastKey[place] === 'A' ? 'B' : 'A'}${lastKey.slice(place + 1)}`;
  const places = [0, 1, 5, Math.floor(lastKey.length / 2), lastKey.length - 3, lastKey.length - 2];
  const broken = [
    ...places.map(flip),
    lastKey.slice(0, -1),
    lastKey.slice(1),
    `${lastKey}A`,
    `${lastKey}=`,
    `${lastKey}==`,
    `${lastKey}${lastKey}`,
    lastKey.toUpperCase(),
    ` ${lastKey}`,
    'null',
    'x',
    '-',
    'bnVsbA',
    Buffer.from(JSON.stringify({ requestId: crypto.randomUUID() })).toString('base64url'),
    'A'.repeat(5000),
  ];
  for (const tampered of broken) {
    expect([tampered, ...faultPaths(await list({ signer, lastKey: tampered }))]).toEqual([tampered, 'lastKey']);
  }
});

covers(['cursor.otherFilters'], 'a cursor used with other filters or another order is 400', async () => {
  const signer = randomHex(20);
  const chainName = chainOf(target, '.cursor');
  await createMany({ signer, chainName }, 3);
  const own = { signer, chainName };
  const lastKey = await firstCursor(own);
  expect((await list({ ...own, lastKey })).status).toBe(200);
  expect((await list({ ...own, lastKey, limit: '50' })).status).toBe(200);
  expect((await list({ ...own, lastKey, order: 'asc' })).status).toBe(200);
  const others = [
    { signer },
    { chainName },
    { signer: randomHex(20), chainName },
    { signer, chainName: chainOf(target, '.else') },
    { ...own, status: 'pending' },
    { ...own, order: 'desc' },
  ];
  for (const query of others)
    expect([query, ...faultPaths(await list({ ...query, lastKey }))]).toEqual([query, 'lastKey']);
});

covers(['list.access', 'cursor.otherFilters'], 'a cursor of a relayer opens no list for anyone else', async () => {
  const signer = randomHex(20);
  const chainName = chainOf(target, '.private');
  await createMany({ signer, chainName }, 2);
  const lastKey = await firstCursor({ chainName });
  const anyone = (query: Query) => callApi(target, { path: '/requests', query });
  expect((await anyone({ chainName, lastKey })).status).toBe(401);
  expect(faultPaths(await anyone({ signer, lastKey }))).toEqual(['lastKey']);
});
