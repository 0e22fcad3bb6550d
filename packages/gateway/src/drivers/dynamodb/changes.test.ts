import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyAddress, anyChain, claimOf, pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { ChangeInterest } from '../../ports/requestChanges.ts';
import type { DynamoStores } from './createDynamoStores.ts';

describeWithDynamo('changes that are watched', () => {
  const chainName = anyChain();
  let rig: DynamoRig;
  let here: DynamoStores;
  let elsewhere: DynamoStores;
  beforeAll(async () => {
    rig = await createDynamoRig();
    const chains = [chainName];
    [here, elsewhere] = [rig.open({ chains }), rig.open({ chains })];
  });
  afterAll(() => rig.dispose());

  /** Watches, and counts. */
  function watch(interest: ChangeInterest) {
    const reported = new EventTarget();
    const watched = { count: 0, next: () => once(reported, 'told'), end: () => {} };
    watched.end = here.changes.watch(interest, () => {
      watched.count++;
      reported.dispatchEvent(new Event('told'));
    });
    return watched;
  }

  test.each(['this', 'another'])('a move of a request by %s process is reported', async (by) => {
    const stores = by === 'this' ? here : elsewhere;
    const [record, other] = [pendingRequest(), pendingRequest()];
    await stores.requests.create(record);
    await stores.requests.create(other);
    const [watched, quiet] = [record, other].map(({ requestId }) => watch({ requestId, status: 'pending' }));
    const reported = watched!.next();
    await stores.requests.claim(claimOf(record));
    await reported;
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
    const reported = watched.next();
    if (how === 'created') await requests.create(record);
    else await requests.release({ requestId: record.requestId, relayer, releaseId: 'any', now: Date.now() });
    await reported;
    expect(watched.count).toBe(1);
    watched.end();
  });

  test('a watch that has ended is told nothing', async () => {
    const record = pendingRequest();
    await here.requests.create(record);
    const [ended, watched] = [1, 2].map(() => watch({ requestId: record.requestId, status: 'pending' }));
    ended!.end();
    const reported = watched!.next();
    await here.requests.claim(claimOf(record));
    await reported;
    expect(ended!.count).toBe(0);
    watched!.end();
  });

  test('a hundred who wait for requests cost one call a look', async () => {
    const calls = () => Object.values(rig.proxy.counts).reduce((sum, count) => sum + count, 0);
    const requests = Array.from({ length: 100 }, () => pendingRequest({ chainName }));
    for (const record of requests) await elsewhere.requests.create(record);
    await elsewhere.requests.claim(claimOf(requests[0]!));
    const before = calls();
    const waiting = requests.map(({ requestId }) => watch({ requestId, status: 'pending' }));
    await waiting[0]!.next();
    expect(calls() - before).toBe(1);
    for (const { end } of waiting) end();
  });
});
