import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyAddress, anyChain, claimOf, pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { ChangeInterest } from '../../ports/requestChanges.ts';
import type { DynamoStores } from './createDynamoStores.ts';

describeWithDynamo('changes that are watched', () => {
  let rig: DynamoRig;
  let here: DynamoStores;
  let elsewhere: DynamoStores;
  beforeAll(async () => {
    rig = await createDynamoRig();
    [here, elsewhere] = [rig.open(), rig.open()];
  });
  afterAll(() => rig.dispose());

  /** Watches, and counts. */
  function watch(interest: ChangeInterest) {
    const told = new EventTarget();
    const watched = { count: 0, next: () => once(told, 'told'), end: () => {} };
    watched.end = here.changes.watch(interest, () => {
      watched.count++;
      told.dispatchEvent(new Event('told'));
    });
    return watched;
  }

  test.each(['this', 'another'])('a move of a request by %s process is told', async (by) => {
    const stores = by === 'this' ? here : elsewhere;
    const [record, other] = [pendingRequest(), pendingRequest()];
    await stores.requests.create(record);
    await stores.requests.create(other);
    const [watched, quiet] = [record, other].map(({ requestId }) => watch({ requestId, status: 'pending' }));
    const told = watched!.next();
    await stores.requests.claim(claimOf(record));
    await told;
    expect(quiet!.count).toBe(0);
    watched!.end();
    quiet!.end();
  });

  test.each(['created', 'released'])('what is %s by another process is told to who watches its chain', async (how) => {
    const { requests } = elsewhere;
    const [record, relayer] = [pendingRequest({ chainName: anyChain() }), anyAddress()];
    if (how === 'released') {
      await requests.create(record);
      await requests.claim(claimOf(record, { relayer }));
    }
    const watched = watch({ chainName: record.chainName });
    // The first look tells in any case: it cannot know what was there before.
    await watched.next();
    const told = watched.next();
    if (how === 'created') await requests.create(record);
    else await requests.release({ requestId: record.requestId, relayer, releaseId: 'any', now: Date.now() });
    await told;
    expect(watched.count).toBeGreaterThan(1);
    watched.end();
  });

  test('a watch that has ended is told nothing', async () => {
    const record = pendingRequest();
    await here.requests.create(record);
    const [ended, watched] = [1, 2].map(() => watch({ requestId: record.requestId, status: 'pending' }));
    ended!.end();
    const told = watched!.next();
    await here.requests.claim(claimOf(record));
    await told;
    expect(ended!.count).toBe(0);
    watched!.end();
  });

  test('many who wait for one chain, or for many requests, cost no more calls than one', async () => {
    const chainName = anyChain();
    const calls = () => Object.values(rig.proxy.counts).reduce((sum, count) => sum + count, 0);
    const requests = Array.from({ length: 100 }, () => pendingRequest({ chainName }));
    for (const record of requests) await elsewhere.requests.create(record);
    const before = calls();
    const waiting = requests.map(({ requestId }) => watch({ requestId, status: 'pending' }));
    const following = Array.from({ length: 50 }, () => watch({ chainName }));
    // All end with the first look, so that a slow machine counts no second one.
    const isTold = following[0]!.next().then(() => [...waiting, ...following].map(({ end }) => end()));
    await Promise.all([isTold, ...following.map((watched) => watched.next())]);
    // One look: four shards and the releases of the chain, and one BatchGetItem for all requests.
    expect(calls() - before).toBeLessThanOrEqual(6);
  });
});
