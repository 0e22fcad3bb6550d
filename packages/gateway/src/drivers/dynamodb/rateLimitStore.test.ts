import { expect, test } from 'vitest';
import { rateLimitStoreContract } from '../../../test/contracts/rateLimitStoreContract.ts';
import { START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';
import { createRateLimiter } from '../../http/rateLimit.ts';
import { meterCapacity } from './createDynamoClient.ts';

describeWithDynamo('DynamoDB', () => {
  rateLimitStoreContract(
    'dynamodb',
    dynamoStore(({ rateLimits }) => rateLimits),
  );

  test('clients with names longer than a key of DynamoDB are counted apart', async () => {
    await using rig = await createDynamoRig();
    const { rateLimits } = rig.open();
    const hit = { limit: 1, window: 30_000_000, elapsed: 0 };
    for (const key of [`sign:user:${'x'.repeat(5000)}1`, `sign:user:${'x'.repeat(5000)}2`]) {
      expect((await rateLimits.take({ ...hit, key })).allowed).toBe(true);
      expect((await rateLimits.take({ ...hit, key })).allowed).toBe(false);
    }
  });

  const PLACE = { window: 30_000_000, elapsed: 0 };

  // Shows DYNAMO-11.
  test('a client far from its limit costs a write in ten calls; one beyond it nothing', async () => {
    await using rig = await createDynamoRig();
    const client = rig.openClient();
    const meter = meterCapacity(client);
    const { rateLimits } = rig.open({ client });
    const [reads, bytes] = [
      { key: 'reads:a', limit: 3000 },
      { key: 'write-bytes:a', limit: 16_777_216, hits: 1500 },
    ];
    for (let i = 0; i < 100; i++) await rateLimits.take({ ...reads, ...PLACE });
    for (let i = 0; i < 100; i++) await rateLimits.take({ ...bytes, ...PLACE });
    expect(meter.writes).toBe(20);
    // The window before, once for each.
    expect(meter.reads).toBeLessThanOrEqual(2);
    const small = { key: 'admin-failures:a', limit: 3, ...PLACE };
    for (let i = 0; i < 3; i++) await rateLimits.take(small);
    meter.reset();
    for (let i = 0; i < 50; i++) expect((await rateLimits.take(small)).allowed).toBe(false);
    expect(meter.calls).toBe(0);
  });

  // Shows DYNAMO-11.
  test('through five processes at once comes no more than the limit, and what they had not told', async () => {
    await using rig = await createDynamoRig();
    const stores = Array.from({ length: 5 }, () => rig.open({ client: rig.openClient() }).rateLimits);
    const hit = { key: 'writes:a', limit: 600, ...PLACE };
    let allowed = 0;
    for (let i = 0; i < 1500; i++) if ((await stores[i % 5]!.take(hit)).allowed) allowed++;
    expect(allowed).toBeGreaterThanOrEqual(600);
    expect(allowed).toBeLessThanOrEqual(600 + 5 * 6);
  });

  // Shows DYNAMO-11 and LIMIT-10.
  test('of failures through five processes none passes beyond the limit: each is looked up and told', async () => {
    await using rig = await createDynamoRig();
    const stores = Array.from({ length: 5 }, () => rig.open({ client: rig.openClient() }).rateLimits);
    const limit = 20;
    const others = {
      reads: 0,
      writes: 0,
      sign: 0,
      claims: 0,
      reports: 0,
      'write-bytes': 0,
      'read-bytes': 0,
      'auth-failures': 0,
    };
    const limits = { ...others, 'admin-failures': limit };
    const limiters = stores.map((store) => createRateLimiter(store, limits, () => START));
    let failures = 0;
    for (let i = 0; i < 60; i++) {
      const limiter = limiters[i % 5]!;
      const permit = await limiter.acquire('admin-failures', 'peer').catch(() => undefined);
      if (permit === undefined) continue;
      await limiter.take('admin-failures', { client: 'peer' });
      permit.release();
      failures++;
    }
    expect(failures).toBe(limit);
  });

  test('hits that could not be reported are reported with the next ones', async () => {
    await using rig = await createDynamoRig();
    const { rateLimits } = rig.open();
    const hit = { key: 'reads:a', limit: 3000, ...PLACE };
    for (let i = 0; i < 9; i++) await rateLimits.take(hit);
    rig.proxy.setShares({ throttle: 1 });
    await expect(rateLimits.take(hit)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    rig.proxy.setShares({});
    await rateLimits.take(hit);
    expect(await rig.open().rateLimits.peek(hit.key, hit.window)).toEqual({ current: 11, previous: 0 });
  });
});
