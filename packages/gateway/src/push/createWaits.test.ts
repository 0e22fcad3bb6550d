import { collectGarbage } from '@prism-gateway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anyChain, claimOf, pendingRequest } from '../../test/contracts/storedRequests.ts';
import { createSqliteRig, type SqliteRig } from '../../test/rigs/sqliteStores.ts';
import type { SqliteStores } from '../drivers/sqlite/openSqliteStores.ts';
import type { StoredRequest } from '../ports/requestStore.ts';
import { createWaits, type Waits } from './createWaits.ts';

/** No test waits for its end. */
const WAIT_SECONDS = 600;

let rig: SqliteRig;
let stores: SqliteStores;
let waits: Waits;
beforeEach(async () => {
  rig = await createSqliteRig();
  stores = rig.open();
  waits = createWaits(stores.changes, { most: 0, mostOfClient: 0 });
});
afterEach(() => rig.dispose());

/** Waits until a record has another status than `pending`, and tells when it has looked for the first time while it watches. */
function waitForMove({ requestId }: StoredRequest, options: { signal?: AbortSignal; waitSeconds?: number } = {}) {
  const { signal = new AbortController().signal, waitSeconds = WAIT_SECONDS } = options;
  const timing = { waitedMs: 0 };
  const watching = Promise.withResolvers<void>();
  let looks = 0;
  const found = waits.until({
    waitSeconds,
    signal,
    timing,
    client: 'a client',
    async look() {
      const record = await stores.requests.get(requestId);
      looks++;
      if (looks === 2) watching.resolve();
      const interest = { requestId, status: 'pending' } as const;
      return record?.status === 'pending' ? { found: record, interest } : { found: record };
    },
  });
  return { found, watching: watching.promise, looks: () => looks, timing };
}

async function stored(fields: Partial<StoredRequest> = {}): Promise<StoredRequest> {
  const record = pendingRequest(fields);
  await stores.requests.create(record);
  return record;
}

// Shows WAIT-1.
describe('a wait', () => {
  test('ends with a move of its own process', async () => {
    const record = await stored();
    const wait = waitForMove(record);
    await wait.watching;
    await stores.requests.claim(claimOf(record));
    expect(await wait.found).toMatchObject({ status: 'processing' });
  });

  test('ends with a move of another process, by claim, batch or release', async () => {
    const peer = rig.open();
    const records = [await stored(), await stored(), await stored()] as const;
    const all = records.map((record) => waitForMove(record));
    for (const { watching } of all) await watching;
    await peer.requests.claim(claimOf(records[0]));
    expect(await all[0]?.found).toMatchObject({ status: 'processing' });
    await peer.requests.claimAll(records.slice(1).map((record) => claimOf(record)));
    for (const wait of all.slice(1)) expect(await wait.found).toMatchObject({ status: 'processing' });
  });

  test('sees a move that was made between its two first looks', async () => {
    const record = await stored();
    const claim = claimOf(record);
    let looks = 0;
    const found = await waits.until({
      client: 'a client',
      waitSeconds: WAIT_SECONDS,
      signal: new AbortController().signal,
      timing: { waitedMs: 0 },
      async look() {
        looks++;
        const seen = await stores.requests.get(record.requestId);
        // Nobody watches yet at the first look, and the pause has not begun at the second.
        if (looks === 2) await stores.requests.claim(claim);
        const interest = { requestId: record.requestId, status: 'pending' } as const;
        return seen?.status === 'pending' ? { found: seen, interest } : { found: seen };
      },
    });
    expect([found?.status, looks]).toEqual(['processing', 3]);
  });

  test('does not look again for the moves of others', async () => {
    const [record, other] = [await stored(), await stored()];
    const wait = waitForMove(record);
    await wait.watching;
    await stores.requests.claim(claimOf(other));
    expect(wait.looks()).toBe(2);
    await stores.requests.claim(claimOf(record));
    await wait.found;
    expect(wait.looks()).toBe(3);
  });

  test('ends when nobody waits for the answer any more', async () => {
    const record = await stored();
    const gone = new AbortController();
    const wait = waitForMove(record, { signal: gone.signal });
    await wait.watching;
    gone.abort();
    expect(await wait.found).toStrictEqual(record);
  });

  test('ends after its time with what was found last', async () => {
    const record = await stored();
    const { found, timing } = waitForMove(record, { waitSeconds: 0.01 });
    expect(await found).toStrictEqual(record);
    expect(timing.waitedMs).toBeGreaterThanOrEqual(9);
  });

  // Shows WAIT-2.
  test('ends with the process, and none begins afterwards', async () => {
    const record = await stored();
    const wait = waitForMove(record);
    await wait.watching;
    waits.end();
    expect(await wait.found).toStrictEqual(record);
    expect(await waitForMove(record).found).toStrictEqual(record);
  });

  test('looks again by itself where it was asked to', async () => {
    const chainName = anyChain();
    let looks = 0;
    const signal = new AbortController().signal;
    const look = () => (++looks < 3 ? { found: looks, interest: { chainName }, againInMs: 1 } : { found: looks });
    expect(
      await waits.until({ client: 'a client', look, waitSeconds: WAIT_SECONDS, signal, timing: { waitedMs: 0 } }),
    ).toBe(3);
  });
});

/** Requests of chains that nobody follows. */
const OTHERS = 20;

describe('who follows a chain', () => {
  test('learns what another process stores or releases there, and of nothing else', async () => {
    const peer = rig.open();
    const chainName = anyChain();
    const reported: (() => void)[] = [];
    let calls = 0;
    const unwatch = stores.changes.watch({ chainName }, () => {
      calls++;
      for (const go of reported.splice(0)) go();
    });
    const next = () => new Promise<void>((resolve) => reported.push(resolve));
    for (let n = 0; n < OTHERS; n++) await stored();
    // The file may tell of a commit before the thread that made it does: then all are reported, who look for nothing.
    expect(calls, 'other chains').toBeLessThan(OTHERS / 2);
    const first = next();
    const record = pendingRequest({ chainName });
    await peer.requests.create(record);
    await first;
    await stores.requests.claim(claimOf(record));
    const second = next();
    const release = { requestId: record.requestId, releaseId: 'release', now: record.createdAt + 2000 };
    const { claimedBy = '' } = (await stores.requests.get(record.requestId)) ?? {};
    await peer.requests.release({ ...release, relayer: claimedBy });
    await second;
    unwatch();
    const before = calls;
    await stored({ chainName });
    expect(calls).toBe(before);
  });
});

test('a wait keeps nothing of what it has found while it sleeps', async () => {
  const record = await stored();
  const found: WeakRef<object>[] = [];
  const watching = Promise.withResolvers<void>();
  const gone = new AbortController();
  const wait = waits.until({
    client: 'a client',
    waitSeconds: WAIT_SECONDS,
    signal: gone.signal,
    timing: { waitedMs: 0 },
    look() {
      const page = { items: [record] };
      found.push(new WeakRef(page));
      if (found.length === 2) watching.resolve();
      return { found: page, interest: { requestId: record.requestId, status: 'pending' } };
    },
  });
  await watching.promise;
  const isGone = () => {
    collectGarbage();
    return found.map((one) => one.deref() === undefined);
  };
  await expect.poll(isGone).toEqual([true, true]);
  gone.abort();
  expect(await wait).toEqual({ items: [record] });
});
