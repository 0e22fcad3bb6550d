import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PostgresStores } from '../../src/drivers/postgres/openPostgresStores.ts';
import { anyChain, pendingRequest } from '../contracts/storedRequests.ts';
import { createPostgresRig, openStoresOf, type PostgresRig } from '../rigs/postgresStores.ts';
import { type CuttingProxy, startCuttingProxy } from './startCuttingProxy.ts';

let rig: PostgresRig;
let proxy: CuttingProxy;
let stores: PostgresStores;

beforeAll(async () => {
  rig = await createPostgresRig();
});
afterAll(() => rig.close());
beforeEach(async () => {
  const { host, port, pathname, username, password } = new URL(rig.url);
  proxy = await startCuttingProxy(Number(port));
  // The second host is what a promoted standby is.
  stores = await openStoresOf(`postgres://${username}:${password}@127.0.0.1:${proxy.port},${host}${pathname}`);
});
afterEach(async () => {
  await stores.close();
  await proxy.close();
});

const unavailable = expect.objectContaining({ code: 'DEPENDENCY_UNAVAILABLE' });

/** As many as the pool has places. */
const readAll = (requestId: string) => Promise.allSettled([1, 2, 3, 4].map(() => stores.requests.get(requestId)));

// A host that loses power ends no connection, and TCP needs a quarter of an hour to give one up.
test('a connection on which nothing comes any more is used once, by reads and by writes', async () => {
  const record = pendingRequest();
  await stores.requests.create(record);
  await readAll(record.requestId);

  proxy.silence('present');
  const [reads, written] = await Promise.all([
    readAll(record.requestId),
    stores.requests.create(pendingRequest()).catch((error: unknown) => error),
  ]);
  for (const read of reads) expect(read).toEqual({ status: 'rejected', reason: unavailable });
  expect(written).toEqual(unavailable);

  for (const read of await readAll(record.requestId)) expect(read.status).toBe('fulfilled');
  expect((await stores.requests.create(pendingRequest())).outcome).toBe('created');
}, 30_000);

test('a process that is notified of nothing any more listens anew', async () => {
  const listeners = async () => await rig.query("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
  const other = await rig.open();
  const chainName = anyChain();
  let woken = 0;
  const remove = stores.changes.watch({ chainName }, () => woken++);
  await expect.poll(listeners).toHaveLength(1);

  proxy.silence('present');
  await other.requests.create(pendingRequest({ chainName }));
  // It is waited for by polling; the server still knows the silent connection.
  await expect.poll(() => woken, { timeout: 20_000 }).toBeGreaterThan(0);
  await expect.poll(listeners).toHaveLength(2);
  remove();
}, 30_000);

// Shows POSTGRES-3.
test('a host that lost its power is left for the one that takes writes', async () => {
  const record = pendingRequest();
  await stores.requests.create(record);
  await readAll(record.requestId);
  proxy.silence('all');
  const isServed = async () => {
    const calls = [stores.requests.get(record.requestId), stores.requests.create(pendingRequest())];
    return (await Promise.allSettled(calls)).every(({ status }) => status === 'fulfilled');
  };
  await expect.poll(isServed, { timeout: 20_000, interval: 50 }).toBe(true);
}, 30_000);

test('a process ends while its database is silent', async () => {
  await stores.requests.create(pendingRequest());
  const remove = stores.changes.watch({ chainName: anyChain() }, () => undefined);
  await expect
    .poll(async () => (await rig.query("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")).length)
    .toBe(1);
  proxy.silence('all');
  await stores.close();
  remove();
}, 30_000);
