import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';

describeWithDynamo('open claims over several processes', () => {
  let now = START;
  let rig: DynamoRig;
  let here: RequestStore;
  let elsewhere: RequestStore;
  beforeAll(async () => {
    rig = await createDynamoRig();
    [here, elsewhere] = [rig.open({ now: () => now }).requests, rig.open({ now: () => now }).requests];
  });
  afterAll(() => rig.dispose());

  async function created(): Promise<StoredRequest> {
    const record = pendingRequest();
    await here.create(record);
    return record;
  }

  async function outcomeOf(store: RequestStore, relayer: string): Promise<string> {
    const claim = claimOf(await created(), { relayer, maxOpenClaims: 3 });
    return (await store.claim(claim)).outcome;
  }

  // Shows DYNAMO-6.
  test('what another process claimed a moment ago may pass the bound, and counts seconds later', async () => {
    const relayer = anyAddress();
    expect(await outcomeOf(here, relayer)).toBe('moved');
    expect(await outcomeOf(elsewhere, relayer)).toBe('moved');
    expect(await outcomeOf(elsewhere, relayer)).toBe('moved');
    expect(await outcomeOf(elsewhere, relayer)).toBe('full');
    expect(await outcomeOf(here, relayer)).toBe('moved');
    now += 6000;
    expect(await outcomeOf(here, relayer)).toBe('full');
  });

  test('what another process has reported makes room seconds later', async () => {
    const relayer = anyAddress();
    const records = [await created(), await created(), await created()];
    for (const record of records) await here.claim(claimOf(record, { relayer, maxOpenClaims: 3 }));
    expect(await outcomeOf(here, relayer)).toBe('full');
    await elsewhere.report(reportOf(records[0]!, { relayer }));
    now += 31_000;
    expect(await outcomeOf(here, relayer)).toBe('moved');
    expect(await outcomeOf(here, relayer)).toBe('full');
  });

  test('of many claims at once as many are won as there is room', async () => {
    const relayer = anyAddress();
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => outcomeOf(here, relayer)));
    expect(outcomes.filter((outcome) => outcome === 'moved')).toHaveLength(3);
  });
});
