/** The storm of `storm.test.ts` over the built function: its handler, called side by side by the events of an HTTP API. */
import { type RunningFunction, startFunction } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, test } from 'vitest';
import { type BuiltFunction, buildFunction } from '../lambda/buildFunction.ts';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { createRelayers } from '../rigs/relayerClient.ts';
import { openFunctionDoor } from './door.ts';
import { describeStorm, expectNothingLost, expectStorm } from './expectNothingLost.ts';
import { runStorm, type StormSize } from './runStorm.ts';
import { type FaultyWorld, startFaultyWorld } from './startFaultyWorld.ts';
import { STORM } from './weather.ts';

const RELAYERS = 5;
const SIZE: StormSize = {
  weather: STORM,
  requests: sized({ small: 20, long: 1000 }),
  creators: 4,
  storageUsers: sized({ small: 3, long: 8 }),
  objects: sized({ small: 3, long: 40 }),
};

describeWithDynamo('one call in ten to every dependency of the function fails, under load', () => {
  let world: FaultyWorld;
  let built: BuiltFunction;
  let instances: RunningFunction[] = [];

  beforeAll(async () => {
    [world, built] = await Promise.all([startFaultyWorld(), buildFunction()]);
    const start = () => startFunction({ file: built.file, env: world.env });
    instances = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.close()));
    await Promise.all([world?.[Symbol.asyncDispose](), built?.[Symbol.asyncDispose]()]);
  });

  test(`${SIZE.requests} requests, ${RELAYERS} relayers, ${SIZE.storageUsers * SIZE.objects} objects, two instances`, async () => {
    const relayers = await createRelayers(RELAYERS);
    const aftermath = await runStorm({ world, doors: instances.map(openFunctionDoor), relayers }, SIZE);
    console.info(describeStorm('two instances of the function', aftermath, world));
    expectNothingLost(aftermath, SIZE);
    expectStorm(aftermath, world);
  });
});
