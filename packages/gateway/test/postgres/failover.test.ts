import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PostgresStores } from '../../src/drivers/postgres/openPostgresStores.ts';
import { DependencyUnavailableError } from '../../src/ports/errors.ts';
import { anyAddress, claimOf, pendingRequest } from '../contracts/storedRequests.ts';
import { openStoresOf } from '../rigs/postgresStores.ts';
import { type ServerPair, startPair } from './startPair.ts';

/** With `TEST_LONG=1` every ten seconds for five minutes. */
const [ROUNDS, PAUSE_MS] = process.env.TEST_LONG === undefined ? [3, 0] : [30, 10_000];

/** Stores and claims without a pause, and remembers what was acknowledged. */
function startLoad(stores: PostgresStores, relayer: string) {
  const stored: string[] = [];
  const claimed: string[] = [];
  let isOver = false;
  async function run(): Promise<void> {
    while (!isOver) {
      const record = pendingRequest();
      try {
        await stores.requests.create(record);
        stored.push(record.requestId);
        const { outcome } = await stores.requests.claim(claimOf(record, { relayer }));
        if (outcome === 'moved') claimed.push(record.requestId);
      } catch (error) {
        // Anything else would be a wrong answer.
        if (!(error instanceof DependencyUnavailableError)) throw error;
        await sleep(5);
      }
    }
  }
  const running = Promise.all(Array.from({ length: 8 }, run));
  return {
    stored,
    claimed,
    async end() {
      isOver = true;
      await running;
    },
  };
}

async function awaitMore(list: readonly string[], more: number): Promise<void> {
  for (const before = list.length; list.length < before + more; ) await sleep(10);
}

// The second goes on with the server that the first has promoted.
describe('a primary and its standby', { shuffle: false }, () => {
  let pair: ServerPair;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(async () => {
    await pair.standby.stop();
  });

  // Shows POSTGRES-3.
  test('the primary dies under load and the standby is promoted: nothing that was acknowledged is lost, or claimed by another', async () => {
    const first = await openStoresOf(pair.url);
    const gateways = [first, await openStoresOf(pair.url)];
    const relayers = gateways.map(anyAddress);
    const loads = gateways.map((stores, i) => startLoad(stores, relayers[i] ?? ''));
    for (const load of loads) await awaitMore(load.stored, 50);
    await pair.primary.stop('immediate');
    await sleep(300);
    await pair.promote();
    for (const load of loads) await awaitMore(load.claimed, 50);
    for (const load of loads) await load.end();
    for (const [i, { stored, claimed }] of loads.entries()) {
      const records = await Promise.all(stored.map((id) => first.requests.get(id)));
      expect(records.filter((record) => record === undefined)).toEqual([]);
      const isClaimed = new Set(claimed);
      const lost = records.filter(
        (record) => isClaimed.has(record?.requestId ?? '') && record?.claimedBy !== relayers[i],
      );
      expect(lost).toEqual([]);
    }
    await Promise.all(gateways.map((stores) => stores.close()));
  });

  test('a server that is started again and again is 503 while it is away, and no longer', async () => {
    const stores = await openStoresOf(pair.standby.url);
    const load = startLoad(stores, anyAddress());
    let server = pair.standby;
    for (let round = 0; round < ROUNDS; round++) {
      await awaitMore(load.claimed, 20);
      await sleep(PAUSE_MS);
      await server.stop(round % 2 === 0 ? 'immediate' : 'fast');
      server = await pair.restart(server);
    }
    await awaitMore(load.claimed, 20);
    await load.end();
    // Not all at once: whoever waits for a place in the pool for longer than three seconds is refused.
    while (load.stored.length > 0) {
      const records = await Promise.all(load.stored.splice(0, 500).map((id) => stores.requests.get(id)));
      expect(records.filter((record) => record === undefined)).toEqual([]);
    }
    await stores.close();
    await server.stop();
  }, 600_000);
});
