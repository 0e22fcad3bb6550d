import { relayerListSchema, relayerRecordSchema, relayerRemovedSchema } from '@prism-gateway/protocol';
import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { expect, onTestFinished } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { errorOf, faultPaths } from '../rig/faults.ts';
import type { HttpRequest } from '../rig/httpMessage.ts';
import { randomHex } from '../rig/randomHex.ts';
import { createRequest } from '../rig/requests.ts';
import { readTarget } from '../rig/target.ts';

const target = readTarget();

const admin = (call: HttpRequest) => callApi(target, { ...call, headers: { 'x-admin-key': target.adminKey } });
const remove = (address: string) => admin({ method: 'DELETE', path: `/admin/relayers/${address}` });
const listAll = async () => {
  const answer = await admin({ path: '/admin/relayers' });
  expect(answer.status).toBe(200);
  return relayerListSchema.parse(answer.body);
};

/** Puts a relayer on the whitelist for the length of a test. */
async function add(json: Record<string, unknown> & { address: string }) {
  onTestFinished(async () => void (await remove(json.address)));
  const answer = await admin({ method: 'POST', path: '/admin/relayers', json });
  expect(answer.status, answer.text).toBe(201);
  return relayerRecordSchema.parse(answer.body);
}

covers(
  [
    'addRelayer.201',
    'listRelayers.200',
    'readRelayer.200',
    'readRelayer.404',
    'removeRelayer.200',
    'whitelist.record',
    'whitelist.list',
    'times',
  ],
  'a relayer is added, listed and removed',
  async () => {
    const address = getAddress(randomHex(20));
    const record = await add({ address, label: 'relayer é 💸' });
    expect(record).toEqual({
      address,
      label: 'relayer é 💸',
      createdAt: record.updatedAt,
      updatedAt: record.createdAt,
    });
    const { relayers, count } = await listAll();
    expect(relayers).toContainEqual(record);
    const path = `/admin/relayers/${address.toLowerCase()}`;
    expect((await admin({ path })).body).toEqual(record);
    expect(await admin({ path: `/admin/relayers/${randomHex(20)}` })).toMatchObject({
      status: 404,
      body: { code: 'RELAYER_NOT_FOUND' },
    });
    expect(count).toBe(relayers.length);
    const removed = await remove(address);
    expect([removed.status, relayerRemovedSchema.parse(removed.body).address]).toEqual([200, address]);
    expect((await listAll()).relayers.map((relayer) => relayer.address)).not.toContain(address);
  },
);

covers(
  ['whitelist.checksum', 'record.caseKept'],
  'an address is one in any letter case, and stored with its checksum',
  async () => {
    const address = getAddress(randomHex(20));
    const wrong = address.replace(/[a-fA-F]/, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    for (const form of [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`, wrong, address]) {
      expect((await add({ address: form })).address).toBe(address);
    }
    const found = (await listAll()).relayers.filter(
      (relayer) => relayer.address.toLowerCase() === address.toLowerCase(),
    );
    expect(found).toHaveLength(1);
    const removed = await remove(address.toLowerCase());
    expect(relayerRemovedSchema.parse(removed.body).address).toBe(address);
    expect((await listAll()).relayers.map((relayer) => relayer.address)).not.toContain(address);
  },
);

covers(['whitelist.again', 'whitelist.record'], 'adding again replaces the label and keeps createdAt', async () => {
  const address = randomHex(20);
  const first = await add({ address, label: 'first' });
  const second = await add({ address, label: 'second' });
  expect(second).toMatchObject({ label: 'second', createdAt: first.createdAt });
  expect(second.updatedAt >= first.updatedAt).toBe(true);
  const third = await add({ address: address.toUpperCase().replace('0X', '0x') });
  expect(third.createdAt).toBe(first.createdAt);
  expect(third).not.toHaveProperty('label');
  expect((await listAll()).relayers.filter((relayer) => relayer.address === first.address)).toEqual([third]);
});

covers(['whitelist.remove', 'removeRelayer.200'], 'removing one that is not there is 200 all the same', async () => {
  const address = getAddress(randomHex(20));
  for (let turn = 0; turn < 2; turn++) {
    const answer = await remove(address);
    expect([answer.status, relayerRemovedSchema.parse(answer.body).address]).toEqual([200, address]);
  }
});

covers(['addRelayer.400', 'readRelayer.400', 'removeRelayer.400'], 'what is no address is 400', async () => {
  expect((await admin({ path: '/admin/relayers/0x70' })).status).toBe(400);
  for (const address of [
    '',
    '0x',
    randomHex(19),
    randomHex(21),
    randomHex(20).slice(2),
    'name.eth',
    null,
    7,
    [randomHex(20)],
  ]) {
    const answer = await admin({ method: 'POST', path: '/admin/relayers', json: { address } });
    expect([address, ...faultPaths(answer)]).toEqual([address, 'address']);
  }
  expect(faultPaths(await admin({ method: 'POST', path: '/admin/relayers', json: {} }))).toEqual(['address']);
  for (const label of ['', null, 7, 'x'.repeat(100_000)]) {
    const json = { address: randomHex(20), label };
    expect(faultPaths(await admin({ method: 'POST', path: '/admin/relayers', json }))).toEqual(['label']);
  }
  for (const address of ['x', '0x12', randomHex(21), `${randomHex(20)}%20`, '%00']) {
    expect([address, ...faultPaths(await remove(address))]).toEqual([address, 'address']);
  }
});

covers(
  ['admin.key', 'addRelayer.401', 'listRelayers.401', 'readRelayer.401', 'removeRelayer.401'],
  'the key must match exactly, on every route',
  async () => {
    const address = randomHex(20);
    const calls: HttpRequest[] = [
      { path: '/admin/relayers' },
      { method: 'POST', path: '/admin/relayers', json: { address } },
      { method: 'DELETE', path: `/admin/relayers/${address}` },
    ];
    for (const call of calls) expect((await callApi(target, call)).status).toBe(401);
    const last = target.adminKey.at(-1) === 'x' ? 'y' : 'x';
    // Few of them: a peer with many failures is refused for a minute, the right key notwithstanding.
    const wrong = [
      '',
      target.adminKey.slice(0, -1),
      `${target.adminKey}x`,
      `${target.adminKey.slice(0, -1)}${last}`,
      `${target.adminKey},${target.adminKey}`,
    ];
    for (const [place, key] of wrong.entries()) {
      const answer = await callApi(target, {
        ...calls[place % calls.length],
        path: calls[place % calls.length]?.path ?? '',
        headers: { 'x-admin-key': key },
      });
      expect([place, answer.status]).toEqual([place, 401]);
      expect(errorOf(answer)).toMatch(/X-Admin-Key/);
    }
    const bearer = { authorization: `Bearer ${target.adminKey}` };
    expect((await callApi(target, { path: '/admin/relayers', headers: bearer })).status).toBe(401);
    expect((await listAll()).relayers.map((relayer) => relayer.address.toLowerCase())).not.toContain(address);
  },
);

covers(
  ['relayerAuth.whitelist', 'relayerAuth.removed'],
  'a relayer may claim from when it is added until it is removed',
  async () => {
    const privateKey = generatePrivateKey();
    const relayer = { privateKey, address: privateKeyToAddress(privateKey) };
    const [first, second] = [await createRequest(target), await createRequest(target)];
    const claim = (requestId: string) =>
      callAsRelayer(target, {
        method: 'PATCH',
        path: `/requests/${requestId}`,
        json: { status: 'processing' },
        relayer,
      });
    expect((await claim(first.requestId)).status).toBe(401);
    await add({ address: relayer.address.toLowerCase() });
    expect((await claim(first.requestId)).status).toBe(200);
    await remove(relayer.address);
    const refused = await claim(second.requestId);
    expect([refused.status, errorOf(refused).includes('whitelist check')]).toEqual([401, true]);
  },
);

covers(['whitelist.list'], 'relayers added at once are all there', async () => {
  const addresses = Array.from({ length: 10 }, () => getAddress(randomHex(20)));
  await Promise.all(addresses.map((address) => add({ address })));
  const listed = (await listAll()).relayers.map((relayer) => relayer.address);
  expect(listed).toEqual(expect.arrayContaining(addresses));
});

covers(['method.bodyOfGet'], 'the body of a DELETE is not read', async () => {
  const path = `/admin/relayers/${randomHex(20)}`;
  const headers = { 'x-admin-key': target.adminKey };
  const answer = await callApi(target, { method: 'DELETE', path, headers, body: 'no JSON', contentType: 'text/plain' });
  expect(answer.status).toBe(200);
});
