import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { mountSmall, type RunningGateway, startGateway } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRelayers, type RelayerClient } from '../rigs/relayerClient.ts';

const MEGABYTE = 1024 * 1024;
const MIN_FREE_BYTES = 12 * MEGABYTE;

const disk = mountSmall('120m');
const directory = disk?.dir;
const { params, ...request } = EXAMPLE_REQUESTS.WRITE_DATA_FOR;

let gateway: RunningGateway;
beforeAll(async () => {
  if (directory === undefined) return;
  gateway = await startGateway({
    dataDir: directory,
    env: {
      MIN_FREE_DISK_BYTES: String(MIN_FREE_BYTES),
      MIN_FREE_UPLOAD_BYTES: String(MIN_FREE_BYTES),
      RATE_LIMIT_WRITES: '0',
      RATE_LIMIT_WRITE_BYTES: '0',
      TRUSTED_PROXY_HOPS: '1',
      ALLOW_DEV_IN_PUBLIC: 'true',
    },
  });
});
afterAll(async () => {
  await gateway?.kill();
  disk?.close();
});

async function call(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
  const headers = { 'content-type': 'application/json', ...more };
  const text = body === undefined ? undefined : JSON.stringify(body);
  const answer = await fetch(`${gateway.url}${path}`, { method, headers, ...(text !== undefined && { body: text }) });
  const value: unknown = await answer.json();
  return { status: answer.status, headers: answer.headers, value: Object(value) };
}

async function patchAs(relayer: RelayerClient, path: string, body: unknown): Promise<number> {
  const headers = relayer.signHeaders({ method: 'PATCH', path, body: JSON.stringify(body) });
  return (await call('PATCH', path, body, headers)).status;
}

/** Takes up what is free, but for a little less than the gateway wants to have. */
function fillDisk(): void {
  if (directory === undefined) throw new Error('There is no disk to fill.');
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(join(directory, 'filler'), Buffer.alloc(bavail * bsize - MIN_FREE_BYTES + MEGABYTE));
}

/** Posts as some peer. */
const postAs = (peer: string, payload: string) =>
  call('POST', '/requests', { ...request, params: { ...params, payload } }, { 'x-forwarded-for': peer });

async function postUntilRefused() {
  const posted: string[] = [];
  const payload = `0x${'ab'.repeat(100_000)}`;
  for (;;) {
    const answer = await call('POST', '/requests', { ...request, params: { ...params, payload } });
    if (answer.status !== 201) return { posted, refused: answer };
    posted.push(String(answer.value.requestId));
    if (posted.length === 20) fillDisk();
  }
}

async function signPut(): Promise<{ url: string; headers: Record<string, string> }> {
  const { value } = await call('POST', '/dev/identity/token', { sub: 'alice' });
  const order = { projectId: `0x${'12'.repeat(16)}`, key: `0x${'34'.repeat(32)}`, operation: 'put' };
  return (await call('POST', '/storage/sign', order, { authorization: `Bearer ${value.access_token}` })).value;
}

// Each fills the disk, and goes on with what is left.
describe.skipIf(directory === undefined)('a full disk of 120 MB', { shuffle: false }, () => {
  // Shows STORE-9.
  test('refuses new requests and uploads; claims, reports and reads go on, and nothing acknowledged is lost', async () => {
    const [relayer] = await createRelayers(1);
    if (relayer === undefined) throw new Error('One is made of one.');
    const { address } = relayer;
    const admin = { 'x-admin-key': gateway.adminKey };
    expect((await call('POST', '/admin/relayers', { address }, admin)).status).toBe(201);
    const { posted, refused } = await postUntilRefused();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
    const { url, headers } = await signPut();
    expect((await fetch(url, { method: 'PUT', headers, body: 'x' })).status).toBe(503);
    expect(readdirSync(join(String(directory), 'objects', 'tmp'))).toEqual([]);

    for (const requestId of posted) {
      const path = `/requests/${requestId}`;
      expect(await patchAs(relayer, path, { status: 'processing' })).toBe(200);
      expect(await patchAs(relayer, path, { status: 'failed', errorMessage: 'x'.repeat(1000) })).toBe(200);
      expect((await call('GET', path)).value.params.payload).toHaveLength(200_002);
    }
    expect((await call('GET', '/ready')).status).toBe(200);

    rmSync(join(String(directory), 'filler'));
    await expect.poll(async () => (await call('POST', '/requests', { ...request, params })).status).toBe(201);
  });

  // Shows STORE-11.
  test('one who fills it is refused first, over IPv6 with a network of addresses too; an honest post goes on', async () => {
    const payload = `0x${'ab'.repeat(100_000)}`;
    const fill = async (peerOf: (i: number) => string) => {
      for (let i = 0; ; i++) {
        const { status, value } = await postAs(peerOf(i), payload);
        if (status !== 201) return [status, value.error];
      }
    };
    const refused = [503, expect.stringContaining('no room for more pending requests of yours')];
    expect(await fill((i) => `2001:db8:1:${i.toString(16)}::1`)).toEqual(refused);
    expect(await fill(() => '192.0.2.1')).toEqual(refused);
    for (let i = 0; i < 20; i++) expect((await postAs('198.51.100.7', '0xab')).status).toBe(201);
  });
});
