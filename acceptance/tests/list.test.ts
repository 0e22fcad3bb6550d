import type { RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import { faultPaths } from '../rig/faults.ts';
import { randomHex } from '../rig/randomHex.ts';
import { chainOf, claim, createRequest, readPage, updateRequest, writeBody } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();
const relayer = relayerAt(target, 3);

type Query = string | Record<string, string>;
const list = (query: Query) => callApi(target, { path: '/requests', query });
const listAsRelayer = (query: Query) => callAsRelayer(target, { path: '/requests', query, relayer });
const idsOf = (records: readonly RequestRecord[]) => records.map(({ requestId }) => requestId);

/** Creates requests of one signer, in order. */
async function createMany(signer: string, count: number, chainName = chainOf(target)): Promise<RequestRecord[]> {
  const records: RequestRecord[] = [];
  while (records.length < count)
    records.push(await createRequest(target, writeBody(target, { chainName, params: { signer } })));
  return records;
}

/** A page once it shows what it should: indexes may lag. */
const pageOf = (records: readonly RequestRecord[], ask: () => Promise<RequestPage>) =>
  eventually(async () => {
    const page = await ask();
    expect(idsOf(page.items)).toEqual(idsOf(records));
    return page;
  });

covers(
  ['listRequests.200', 'list.access', 'list.count', 'list.lastPage', 'record.fields'],
  'anyone lists by signer',
  async () => {
    const signer = randomHex(20);
    const records = await createMany(signer, 3);
    await createMany(randomHex(20), 1);
    const page = await pageOf(records, async () => readPage(await list({ signer })));
    expect(page).toEqual({ items: records, count: 3, lastKey: null });
    expect(readPage(await list({ signer: randomHex(20) }))).toEqual({ items: [], count: 0, lastKey: null });
  },
);

covers(['list.signerCase'], 'the signer is looked up without regard to case', async () => {
  const signer = `0x${'aBcD'.repeat(7)}${randomHex(6).slice(2)}`;
  const lower = await createMany(signer.toLowerCase(), 1);
  const mixed = await createMany(signer, 1);
  const both = [...lower, ...mixed];
  for (const asked of [signer, signer.toLowerCase(), `0x${signer.slice(2).toUpperCase()}`]) {
    await pageOf(both, async () => readPage(await list({ signer: asked })));
  }
});

covers(['list.order', 'query.order'], 'oldest first; order=desc turns it round', async () => {
  const signer = randomHex(20);
  const records = await createMany(signer, 5);
  await pageOf(records, async () => readPage(await list({ signer })));
  await pageOf(records, async () => readPage(await list({ signer, order: 'asc' })));
  await pageOf(records.toReversed(), async () => readPage(await list({ signer, order: 'desc' })));
  for (const order of ['ASC', 'up', '1', 'desc ']) expect(faultPaths(await list({ signer, order }))).toEqual(['order']);
});

covers(['list.order'], 'requests of one moment stand in the order of their ids', async () => {
  const signer = randomHex(20);
  const body = writeBody(target, { params: { signer } });
  const records = await Promise.all(Array.from({ length: 20 }, () => createRequest(target, body)));
  const expected = records.toSorted((a, b) => {
    return a.createdAt.localeCompare(b.createdAt) || (a.requestId < b.requestId ? -1 : 1);
  });
  await pageOf(expected, async () => readPage(await list({ signer })));
});

covers(['list.limit', 'list.count'], 'limit: 1 to 100, 20 where none is asked', async () => {
  const signer = randomHex(20);
  const records = await Promise.all(
    Array.from({ length: 105 }, () => createRequest(target, writeBody(target, { params: { signer } }))),
  );
  await eventually(async () => {
    const first = readPage(await list({ signer, limit: '100' }));
    const rest = readPage(await list({ signer, limit: '100', lastKey: first.lastKey ?? '' }));
    expect([first.count, first.items.length, rest.count, rest.lastKey]).toEqual([100, 100, records.length - 100, null]);
  });
  for (const [limit, count] of [
    [undefined, 20],
    ['1', 1],
    ['7', 7],
    ['99', 99],
  ] as const) {
    const page = readPage(await list({ signer, ...(limit && { limit }) }));
    expect([limit, page.count, page.items.length, page.lastKey === null]).toEqual([limit, count, count, false]);
  }
  for (const limit of ['0', '101', '-1', '1.5', '1e1', '010', '+5', ' 5', 'all', '0x10', '9'.repeat(30)]) {
    expect([limit, ...faultPaths(await list({ signer, limit }))]).toEqual([limit, 'limit']);
  }
});

covers(['list.filterRequired', 'listRequests.400'], 'a list without a filter is 400', async () => {
  for (const query of ['', 'limit=5', 'order=asc', 'Signer=0x', 'requestId=7']) {
    expect(faultPaths(await list(query)).length).toBeGreaterThan(0);
  }
});

covers(
  ['query.empty', 'query.repeated', 'query.unknown', 'listRequests.400'],
  'empty or repeated parameters are 400, unknown ones ignored',
  async () => {
    const signer = randomHex(20);
    for (const name of ['limit', 'order', 'lastKey']) {
      expect(faultPaths(await list(`signer=${signer}&${name}=`))).toEqual([name]);
    }
    expect(faultPaths(await list('signer='))).toEqual(['signer']);
    expect(faultPaths(await list(`signer=${signer}&signer=${signer}`))).toEqual(['signer']);
    expect(faultPaths(await list(`signer=${signer}&limit=5&limit=5`))).toEqual(['limit']);
    expect(faultPaths(await listAsRelayer('status=pending&status=pending'))).toEqual(['status']);
    expect(faultPaths(await listAsRelayer('chainName='))).toEqual(['chainName']);
    expect(faultPaths(await listAsRelayer('status='))).toEqual(['status']);
    const both = faultPaths(await list(`signer=0x&limit=0&order=x`));
    expect(both.sort()).toEqual(['limit', 'order', 'signer']);
    expect((await list(`signer=${signer}&foo=&foo=1&LIMIT=0&__proto__=x&toString=`)).status).toBe(200);
  },
);

covers(['listRequests.400'], 'filters of another form are 400', async () => {
  for (const signer of ['x', '0x', randomHex(19), randomHex(21), `${randomHex(20)}%00`]) {
    expect([signer, ...faultPaths(await list(`signer=${signer}`))]).toEqual([signer, 'signer']);
  }
  for (const status of ['Pending', 'claimed', '1'])
    expect(faultPaths(await listAsRelayer({ status }))).toEqual(['status']);
  for (const chainName of ['.x', 'a b', 'x'.repeat(65)])
    expect(faultPaths(await listAsRelayer({ chainName }))).toEqual(['chainName']);
});

covers(['list.access', 'listRequests.401'], 'status and chainName need relayer auth, with a signer too', async () => {
  const signer = randomHex(20);
  for (const query of [
    'status=pending',
    'chainName=x',
    `signer=${signer}&status=pending`,
    `chainName=x&signer=${signer}`,
  ]) {
    expect([query, (await list(query)).status]).toEqual([query, 401]);
    expect([query, (await listAsRelayer(query)).status]).toEqual([query, 200]);
  }
  // A parameter by another name is none.
  expect((await list(`signer=${signer}&Status=pending`)).status).toBe(200);
});

covers(
  ['list.status', 'list.combined', 'list.pendingOnly'],
  'a record stands in the list of its status alone',
  async () => {
    const chainName = chainOf(target, '.moves');
    const signer = randomHex(20);
    const [first, second, third, fourth] = (await createMany(signer, 4, chainName)) as [
      RequestRecord,
      RequestRecord,
      RequestRecord,
      RequestRecord,
    ];
    for (const { requestId } of [second, third, fourth]) await claim(target, requestId, relayer);
    const txHash = randomHex(32);
    await updateRequest(target, { requestId: third.requestId, json: { status: 'success', txHash }, relayer });
    await updateRequest(target, {
      requestId: fourth.requestId,
      json: { status: 'failed', errorMessage: 'x' },
      relayer,
    });
    const expected = { pending: first, processing: second, success: third, failed: fourth };
    for (const [status, { requestId }] of Object.entries(expected)) {
      for (const query of [
        { status, chainName },
        { status, signer },
        { status, signer, chainName },
      ]) {
        await eventually(async () => {
          const { items } = readPage(await listAsRelayer(query));
          expect(items.map((item) => [item.requestId, item.status])).toEqual([[requestId, status]]);
        });
      }
    }
  },
);

covers(['list.combined'], 'all filters must hold', async () => {
  const [here, there] = [chainOf(target, '.here'), chainOf(target, '.there')];
  const [ann, bob] = [randomHex(20), randomHex(20)];
  const annHere = await createMany(ann, 2, here);
  const bobHere = await createMany(bob, 1, here);
  const annThere = await createMany(ann, 1, there);
  await pageOf([...annHere, ...bobHere], async () => readPage(await listAsRelayer({ chainName: here })));
  await pageOf(annHere, async () => readPage(await listAsRelayer({ chainName: here, signer: ann })));
  await pageOf(annThere, async () => readPage(await listAsRelayer({ chainName: there, signer: ann })));
  await pageOf([], async () => readPage(await listAsRelayer({ chainName: there, signer: bob })));
  await pageOf([...annHere, ...annThere], async () => readPage(await list({ signer: ann })));
  await pageOf([], async () => readPage(await listAsRelayer({ chainName: here.toUpperCase() })));
});

covers(['list.pendingOnly'], 'a request just claimed is in no list of pending ones', async () => {
  const chainName = chainOf(target, '.pending');
  const records = await createMany(randomHex(20), 6, chainName);
  await pageOf(records, async () => readPage(await listAsRelayer({ chainName, status: 'pending' })));
  for (const { requestId } of records) {
    await claim(target, requestId, relayer);
    const { items } = readPage(await listAsRelayer({ chainName, status: 'pending' }));
    expect(idsOf(items)).not.toContain(requestId);
    expect(items.filter(({ status }) => status !== 'pending')).toEqual([]);
  }
});

covers(['list.cut'], 'a page that ends before its limit for the size of its requests says so', async () => {
  const body = writeBody(target);
  const params = { ...(body.params as object), signer: randomHex(20), payload: `0x${'ab'.repeat(45_000)}` };
  for (let i = 0; i < 3; i++) await createRequest(target, { ...body, params });
  const list = async (query: Record<string, string>) =>
    readPage(await callApi(target, { path: '/requests', query: { signer: params.signer, ...query } }));
  const first = await list({ limit: '3' });
  expect([first.count, first.cut]).toEqual([1, true]);
  // As many as asked: there is more, and nothing was cut.
  expect(await list({ limit: '1' })).not.toHaveProperty('cut');
  const second = await list({ limit: '3', lastKey: String(first.lastKey) });
  const last = await list({ limit: '3', lastKey: String(second.lastKey) });
  expect([last.count, last.lastKey, last.cut]).toEqual([1, null, undefined]);
});
