/**
 * Total outages, one dependency at a time, in each of the ways in which a machine can be gone: it hangs up, it says that it is
 * unavailable, it says nothing at all. What needs it is 503 with `Retry-After` in good time, everything else goes on, and when it
 * is back so is the gateway, without a restart.
 *
 * `/ready` tells of the stores only: while the identity provider is out the queue works, and taking the gateway out of service
 * would take the queue with it. S3 is never called by the gateway: its outage is seen by whoever uses a presigned URL.
 */
import { randomBytes } from 'node:crypto';
import type { RequestRecord, SignedOperationBody } from '@prism-gateway/protocol';
import { type FaultKind, type RunningGateway, startGateway } from '@prism-gateway/testing';
import { isLong } from '@prism-gateway/testing/test-size';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { type Answered, type GatewayCall, updateCall } from '../rigs/gatewayClient.ts';
import { createRelayers, type RelayerClient } from '../rigs/relayerClient.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';
import { type Door, openDoor } from './door.ts';
import { findOutageFault, insist, TIMEOUT_MS } from './outageAnswers.ts';
import { addRelayersBy, type FaultyWorld, startFaultyWorld } from './startFaultyWorld.ts';

/** The last one takes the longest, and most of what the others could show it shows, too. */
const WAYS: readonly FaultKind[] = isLong ? ['cutBefore', 'unavailable', 'stallBefore'] : ['stallBefore'];
const CONNECTIONS = 100;
/** Clients that call at the same time while a dependency is out. */
const CROWD = 20;
/** Longest that a client who comes back when it is told to waits for the identity provider, in milliseconds. */
const BACK_WITHIN_MS = 30_000;

describeWithDynamo('a dependency is out', () => {
  let world: FaultyWorld;
  let gateway: RunningGateway;
  let door: Door;
  let relayer: RelayerClient;

  beforeAll(async () => {
    world = await startFaultyWorld();
    gateway = await startGateway({ env: world.env });
    door = openDoor(gateway.url, CONNECTIONS);
    const relayers = await createRelayers(1);
    [relayer] = relayers as [RelayerClient]; // One was asked for.
    await addRelayersBy(door, relayers);
    // Its discovery document is known from now on.
    expect((await door.send(await signCall())).status).toBe(200);
  });
  afterEach(() => world.calm());
  afterAll(async () => {
    door?.close();
    await gateway?.kill();
    await world?.[Symbol.asyncDispose]();
  });

  const statusOf = async (call: GatewayCall) => (await door.send(call)).status;
  const health: GatewayCall = { method: 'GET', path: '/health' };
  const ready: GatewayCall = { method: 'GET', path: '/ready' };
  const post = (): GatewayCall => ({ method: 'POST', path: '/requests', json: writeRequestBody() });

  async function createOne(): Promise<RequestRecord> {
    const answer = await door.send(post());
    expect(answer.status, answer.text).toBe(201);
    // A 201 carries a record.
    return JSON.parse(answer.text) as RequestRecord;
  }

  async function signCall(operation = 'get', content = randomBytes(32)): Promise<GatewayCall> {
    const key = `0x${Buffer.from(await crypto.subtle.digest('SHA-256', content)).toString('hex')}`;
    const json = { projectId: `0x${'12'.repeat(16)}`, key, operation };
    const headers = { authorization: `Bearer ${await world.identity.issueOpaque('alice')}` };
    return { method: 'POST', path: '/storage/sign', json, headers };
  }

  /** Sends calls, all at the same time, of which each must be an outage, in good time. */
  async function expectOutages(calls: readonly GatewayCall[]): Promise<void> {
    const startedAt = performance.now();
    const send = async (call: GatewayCall) => {
      const fault = findOutageFault(await door.send(call));
      return { call: `${call.method} ${call.path}`, fault, isLate: performance.now() - startedAt > TIMEOUT_MS };
    };
    for (const { call, fault, isLate } of await Promise.all(calls.map(send))) {
      expect({ call, fault, isLate }).toEqual({ call, fault: undefined, isLate: false });
    }
  }

  /** Asks until it is no outage, as often as `Retry-After` says. */
  async function waitUntilBack(call: GatewayCall): Promise<Answered> {
    const startedAt = performance.now();
    const answer = await insist(door, call);
    expect(performance.now() - startedAt).toBeLessThan(BACK_WITHIN_MS);
    return answer;
  }

  /** Asks for `/ready` until it is an outage: an answer of the stores counts for a moment longer. */
  async function waitUntilNotReady(): Promise<void> {
    const startedAt = performance.now();
    let answer: Answered;
    do {
      answer = await door.send(ready);
    } while (answer.status === 200 && performance.now() - startedAt < TIMEOUT_MS);
    expect(findOutageFault(answer)).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS);
  }

  describe('DynamoDB', () => {
    /** One call of every route that needs it, and a crowd that claims. */
    async function needyCalls({ requestId, signer }: RequestRecord): Promise<GatewayCall[]> {
      const admin = { 'x-admin-key': gateway.adminKey };
      const report = { status: 'success', txHash: `0x${'ab'.repeat(32)}` } as const;
      return [
        post(),
        { method: 'GET', path: `/requests/${requestId}` },
        { method: 'GET', path: '/requests', query: `?signer=${signer}` },
        { method: 'GET', path: '/requests', query: '?status=pending', relayer },
        updateCall(requestId, report, relayer),
        { method: 'GET', path: '/admin/relayers', headers: admin },
        { method: 'POST', path: '/admin/relayers', json: { address: signer }, headers: admin },
        { method: 'DELETE', path: `/admin/relayers/${signer}`, headers: admin },
        await signCall(),
        ...Array.from({ length: CROWD }, () => updateCall(requestId, { status: 'processing' }, relayer)),
      ];
    }

    test.each(WAYS)('%s: 503 from all that needs it, and nothing has changed afterwards', async (way) => {
      const record = await createOne();
      const calls = await needyCalls(record);
      world.proxies.dynamodb.setShares({ [way]: 1 });
      const outages = expectOutages(calls);
      expect(await statusOf(health)).toBe(200);
      await waitUntilNotReady();
      await outages;
      world.calm();
      // At once, and at the first try.
      const read = await door.send({ method: 'GET', path: `/requests/${record.requestId}` });
      expect(JSON.parse(read.text)).toEqual(record);
      expect(await statusOf(updateCall(record.requestId, { status: 'processing' }, relayer))).toBe(200);
      expect(await waitUntilBack(ready)).toMatchObject({ status: 200 });
      expect(gateway.process.exitCode).toBeNull();
    });
  });

  describe('the identity provider', () => {
    test.each(WAYS)('%s: 503 from sign, and from nothing else', async (way) => {
      world.proxies.identity.setShares({ [way]: 1 });
      const outages = expectOutages(await Promise.all(Array.from({ length: CROWD }, () => signCall())));
      await createOne();
      expect([await statusOf(health), await statusOf(ready)]).toEqual([200, 200]);
      await outages;
      world.calm();
      expect(await waitUntilBack(await signCall())).toMatchObject({ status: 200 });
    });

    test('a gateway that starts meanwhile is up, and lets users in as soon as each of its documents is there', async () => {
      const { identity } = world.proxies;
      identity.setShares({ cutBefore: 1 });
      const late = await startGateway({ env: world.env });
      const lateDoor = openDoor(late.url, CONNECTIONS);
      const jwt = await world.identity.issueJwt('alice');
      const call = { ...(await signCall()), headers: { authorization: `Bearer ${jwt}` } };
      try {
        expect((await lateDoor.send(ready)).status).toBe(200);
        expect(findOutageFault(await lateDoor.send(call))).toBeUndefined();
        world.calm();
        // Its discovery document is read, its key set is not.
        identity.planFaults(['serverError'], ({ url }) => url.startsWith('/jwks'));
        expect(await insist(lateDoor, call)).toMatchObject({ status: 200 });
        expect(identity.planned()).toBe(0);
      } finally {
        identity.planFaults([]);
        lateDoor.close();
        await late.kill();
      }
    });
  });

  describe('S3', () => {
    test.each(WAYS)('%s: URLs are signed all the same, and the same one works afterwards', async (way) => {
      world.proxies.s3.setShares({ [way]: 1 });
      const content = randomBytes(100);
      // Identity provider and stores may be slow beside other work.
      const answer = await insist(door, await signCall('put', content));
      expect([answer.status, await statusOf(health)]).toEqual([200, 200]);
      expect(await waitUntilBack(ready)).toMatchObject({ status: 200 });
      // A 200 carries that.
      const { url, method, headers } = JSON.parse(answer.text) as SignedOperationBody;
      const put = (timeoutMs: number) =>
        fetch(url, { method, headers, body: content, signal: AbortSignal.timeout(timeoutMs) });
      const duringOutage = await put(300).then(
        ({ status }) => status,
        () => 'no answer',
      );
      expect(duringOutage).toBe(way === 'unavailable' ? 503 : 'no answer');
      world.calm();
      expect((await put(10_000)).status).toBe(200);
    });
  });
});
