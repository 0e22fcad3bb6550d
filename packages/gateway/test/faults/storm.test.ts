/**
 * Part "Faults" of the service's promise: one call in ten between a gateway and what it depends on is delayed, dropped, stalled,
 * throttled, answered 5xx, or cut off after it was done, while users, relayers and storage users go on.
 *
 * Real are the gateways (two processes), the engine of DynamoDB, the S3 server, the OpenID provider and every signature. A proxy
 * stands before each of the three dependencies. The gateway itself never calls S3: it only signs URLs. So the third proxy stands
 * where the network is, between the client who uses a presigned URL and S3, and its faults are the client's to see; the gateway's
 * part is that the URL may be used again as long as it lives, and that an upload is bound to its content.
 */
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { createRelayers } from '../rigs/relayerClient.ts';
import { type Door, openServerDoor } from './door.ts';
import { describeStorm, expectNothingLost, expectStorm } from './expectNothingLost.ts';
import { runStorm, type StormSize } from './runStorm.ts';
import { type FaultyWorld, startFaultyWorld } from './startFaultyWorld.ts';
import { HURRICANE, STORM } from './weather.ts';

const RELAYERS = 6;
const CONNECTIONS = 50;
const SIZE: StormSize = {
  weather: STORM,
  requests: sized({ small: 40, long: 3000 }),
  creators: sized({ small: 4, long: 6 }),
  storageUsers: sized({ small: 4, long: 8 }),
  objects: sized({ small: 3, long: 100 }),
};

/** Users and relayers only: what is at stake are the writes. */
const HURRICANE_SIZE: StormSize = {
  weather: HURRICANE,
  requests: 400,
  creators: 4,
  storageUsers: 0,
  objects: 0,
};

describeWithDynamo('dependencies fail, under load', () => {
  let world: FaultyWorld;
  let gateways: RunningGateway[] = [];
  let doors: Door[] = [];

  beforeAll(async () => {
    world = await startFaultyWorld();
    gateways = [await startGateway({ env: world.env }), await startGateway({ env: world.env })];
    doors = gateways.map(({ url }) => openServerDoor(url, CONNECTIONS));
  });
  afterAll(async () => {
    for (const door of doors) door.close();
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await world?.[Symbol.asyncDispose]();
  });

  test(`one call in ten to each fails: ${SIZE.requests} requests, ${RELAYERS} relayers, ${SIZE.storageUsers * SIZE.objects} objects, two gateways`, async () => {
    const relayers = await createRelayers(RELAYERS);
    const aftermath = await runStorm({ world, doors, relayers }, SIZE);
    console.info(describeStorm('two servers', aftermath, world));
    expectNothingLost(aftermath, SIZE);
    expectStorm(aftermath, world);
    expect(gateways.map(({ process }) => process.exitCode)).toEqual([null, null]);
  });

  // What it shows by chance, `lostWrites.test.ts` shows by plan, in every run.
  test.runIf(isLong)(
    `two calls of three to DynamoDB fail: ${HURRICANE_SIZE.requests} requests, ${RELAYERS} relayers`,
    async () => {
      const relayers = await createRelayers(RELAYERS);
      const aftermath = await runStorm({ world, doors, relayers }, HURRICANE_SIZE);
      console.info(describeStorm('two servers, two calls of three', aftermath, world));
      expectNothingLost(aftermath, HURRICANE_SIZE);
      expect(aftermath.witness.outages.store, 'calls of which all tries failed').toBeGreaterThan(10);
    },
  );
});
