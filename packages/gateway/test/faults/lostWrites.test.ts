/**
 * Writes of which every try of the gateway fails: hardly ever when one call in ten fails, but often in an outage. It is 503, whether
 * nothing was done or all was done and every answer lost: the gateway cannot know.
 *
 * A relayer that then asks again, by a call of its own, gets 409 where the first call had been done, as anybody does who asks for
 * a claimed request: the second call might as well come from another process with the same key, and a claim belongs to one call.
 * `claimedBy` tells the relayer that it is the owner, and nobody else is told so.
 */
import type { RequestRecord } from '@prism-gateway/protocol';
import { type FaultKind, type ProxiedCall, type RunningGateway, startGateway } from '@prism-gateway/testing';
import { isLong } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { type Answered, updateCall } from '../rigs/gatewayClient.ts';
import { createRelayers, type RelayerClient } from '../rigs/relayerClient.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';
import { type Door, openDoor } from './door.ts';
import { findOutageFault } from './outageAnswers.ts';
import { addRelayersBy, type FaultyWorld, startFaultyWorld } from './startFaultyWorld.ts';

/** Tries that the gateway makes of one write that fails at once. */
const TRIES = 7;
/** Limits are counted by updates, too: without them the only update is the move. */
const NO_LIMITS = Object.fromEntries(
  ['WRITES', 'WRITE_BYTES', 'READS', 'CLAIMS', 'REPORTS', 'AUTH_FAILURES'].map((name) => [`RATE_LIMIT_${name}`, '0']),
);

/** A creation writes the record and the marker of its signature at once, and one of the call before may still be under way. */
const CREATION_WRITES = 3;

/** A fault for each try, so that the gateway gives up. */
const allTries = (fault: FaultKind): FaultKind[] => Array(TRIES).fill(fault);

const isCreation = ({ headers }: ProxiedCall) => `${headers['x-amz-target']}`.endsWith('.PutItem');
/** Of a request: who called last is noted by an update too, in another table. */
const isMove = ({ headers, body }: ProxiedCall) =>
  `${headers['x-amz-target']}`.endsWith('.UpdateItem') && body.includes('requestId');
// What this reads was answered by 200 or 201.
const recordOf = ({ text }: Answered) => JSON.parse(text) as RequestRecord;

/** The fault in all tries of a creation, and how many records that leaves. */
const creations: readonly { readonly fault: FaultKind; readonly records: number }[] = [
  { fault: 'cutBefore', records: 0 },
  { fault: 'cutAfter', records: 1 },
  ...(isLong
    ? ([
        { fault: 'throttle', records: 0 },
        { fault: 'serverErrorAfter', records: 1 },
      ] as const)
    : []),
];

describeWithDynamo('a write of which every try fails', () => {
  let world: FaultyWorld;
  let gateway: RunningGateway;
  let door: Door;
  let owner: RelayerClient;
  let rival: RelayerClient;

  beforeAll(async () => {
    world = await startFaultyWorld();
    gateway = await startGateway({ env: { ...world.env, ...NO_LIMITS } });
    door = openDoor(gateway.url, 1);
    const relayers = await createRelayers(2);
    [owner, rival] = relayers as [RelayerClient, RelayerClient]; // Two were asked for.
    await addRelayersBy(door, relayers);
  });
  afterAll(async () => {
    door?.close();
    await gateway?.kill();
    await world?.[Symbol.asyncDispose]();
  });

  const claimBy = (requestId: string, relayer: RelayerClient) =>
    door.send(updateCall(requestId, { status: 'processing' }, relayer));
  const read = async (requestId: string) =>
    recordOf(await door.send({ method: 'GET', path: `/requests/${requestId}` }));

  async function createOne(): Promise<string> {
    return recordOf(await door.send({ method: 'POST', path: '/requests', json: writeRequestBody() })).requestId;
  }

  test.each(creations)('$fault: a creation is 503, and there are $records of it', async ({ fault, records }) => {
    const json = writeRequestBody();
    world.proxies.dynamodb.planFaults(Array(CREATION_WRITES).fill(allTries(fault)).flat(), isCreation);
    expect(findOutageFault(await door.send({ method: 'POST', path: '/requests', json }))).toBeUndefined();
    const page = await door.send({ method: 'GET', path: '/requests', query: `?signer=${json.params.signer}` });
    expect(JSON.parse(page.text)).toMatchObject({ count: records });
    world.proxies.dynamodb.planFaults([], isCreation);
  });

  test('of a claim and a report nothing is done: 503, and the next call is taken', async () => {
    const requestId = await createOne();
    const report = updateCall(requestId, { status: 'failed', errorMessage: 'the Forwarder reverted' }, owner);
    for (const [call, before] of [
      [updateCall(requestId, { status: 'processing' }, owner), 'pending'],
      [report, 'processing'],
    ] as const) {
      world.proxies.dynamodb.planFaults(allTries('unavailable'), isMove);
      expect(findOutageFault(await door.send(call))).toBeUndefined();
      expect(await read(requestId)).toMatchObject({ status: before });
      expect((await door.send(call)).status).toBe(200);
    }
  });

  test('two lost answers, and a claim says that it is won', async () => {
    const requestId = await createOne();
    // No more: a call that has taken long, as on a busy machine, is not tried again.
    world.proxies.dynamodb.planFaults(['cutAfter', 'cutAfter'], isMove);
    const answer = await claimBy(requestId, owner);
    expect(answer.status).toBe(200);
    expect(recordOf(answer).claimedBy?.toLowerCase()).toBe(owner.address);
  });

  test('all of a claim is done: 503, then 409; claimedBy tells the owner, who reports', async () => {
    const requestId = await createOne();
    world.proxies.dynamodb.planFaults(allTries('cutAfter'), isMove);
    expect(findOutageFault(await claimBy(requestId, owner))).toBeUndefined();
    expect((await claimBy(requestId, rival)).status).toBe(409);
    expect((await claimBy(requestId, owner)).status).toBe(409);
    expect((await read(requestId)).claimedBy?.toLowerCase()).toBe(owner.address);
    const report = { status: 'success', txHash: `0x${'ab'.repeat(32)}` } as const;
    expect((await door.send(updateCall(requestId, report, rival))).status).toBe(409);
    expect((await door.send(updateCall(requestId, report, owner))).status).toBe(200);
  });

  test('all of a report is done: 503, then 409; the record tells that it stands', async () => {
    const requestId = await createOne();
    await claimBy(requestId, owner);
    const report = { status: 'success', txHash: `0x${'cd'.repeat(32)}` } as const;
    world.proxies.dynamodb.planFaults(allTries('cutAfter'), isMove);
    expect(findOutageFault(await door.send(updateCall(requestId, report, owner)))).toBeUndefined();
    expect((await door.send(updateCall(requestId, report, owner))).status).toBe(409);
    expect(await read(requestId)).toMatchObject(report);
  });
});
