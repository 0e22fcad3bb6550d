/**
 * Part "Faults" of the service's promise: one call in ten between a gateway and what it depends on is delayed, dropped, stalled,
 * throttled, answered 5xx, or cut off after it was done, while users, relayers and storage users go on.
 *
 * Real are the gateways (two processes, or two instances of the built function), the engine of DynamoDB, the S3 server, the OpenID provider and every signature. A proxy
 * stands before each of the three dependencies. The gateway itself never calls S3: it only signs URLs. So the third proxy stands
 * where the network is, between the client who uses a presigned URL and S3, and its faults are the client's to see; the gateway's
 * part is that the URL may be used again as long as it lives, and that an upload is bound to its content.
 */
import { startFunction, startGateway } from '@prism-gateway/testing';
import { drawSome, isLong, sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFunction } from '../lambda/buildFunction.ts';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { createRelayers, type RelayerClient } from '../rigs/relayerClient.ts';
import { addRelayersBy } from './addRelayersBy.ts';
import { type Door, openFunctionDoor, openServerDoor } from './door.ts';
import { judgeQueue, type Verdict } from './judgeQueue.ts';
import { createQueueLoad, type QueueLoad, runCreator, runRelayer } from './queueLoad.ts';
import { countFaults, describeFaults, type FaultyWorld, startFaultyWorld } from './startFaultyWorld.ts';
import { findObjectFault, runStorageUser, type StorageLoad } from './storageLoad.ts';
import { HURRICANE, STORM, type Weather } from './weather.ts';
import { createWitness, type Witness } from './witness.ts';

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
const HURRICANE_SIZE: StormSize = { weather: HURRICANE, requests: 400, creators: 4, storageUsers: 0, objects: 0 };

/** How much is to happen while calls are failing. */
interface StormSize {
  readonly weather: Weather;
  /** Creations that shall be acknowledged. */
  readonly requests: number;
  /** Users who post at the same time. */
  readonly creators: number;
  /** Users who store and read objects at the same time. */
  readonly storageUsers: number;
  /** Objects of each. */
  readonly objects: number;
}

interface StormParts {
  readonly world: FaultyWorld;
  /** Ways into the gateways on the same tables; clients are spread over them. */
  readonly doors: readonly Door[];
  /** Not on the whitelist yet. */
  readonly relayers: readonly RelayerClient[];
}

/** What a storm has left behind. */
interface Aftermath {
  readonly verdict: Verdict;
  readonly queue: QueueLoad;
  readonly storage: StorageLoad;
  readonly witness: Witness;
  /** Objects that were acknowledged and cannot be read back. */
  readonly lostObjects: string[];
}

const range = (length: number) => Array.from({ length }, (_, i) => i);

async function findLostObjects(storage: StorageLoad, door: Door): Promise<string[]> {
  const faults = storage.kept.map((object) => findObjectFault({ load: storage, door, user: object.user }, object));
  return (await Promise.all(faults)).filter((fault) => fault !== undefined);
}

/**
 * Lets users, relayers and storage users loose on gateways in bad weather, then, in calm weather,
 * compares what stands with what was acknowledged.
 */
async function runStorm({ world, doors, relayers }: StormParts, size: StormSize): Promise<Aftermath> {
  const doorOf = (i: number) => doors[i % doors.length] as Door; // There is one at least.
  const witness = createWitness();
  const queue = createQueueLoad({ witness, doors, relayers, wanted: size.requests });
  const storage: StorageLoad = {
    witness,
    identity: world.identity,
    kept: [],
    uses: { all: 0, repeated: 0 },
    wrongs: [],
  };
  await addRelayersBy(doorOf(0), relayers);
  world.setWeather(size.weather);
  await Promise.all([
    ...range(size.creators).map((i) => runCreator(queue, doorOf(i))),
    ...relayers.map((relayer, i) => runRelayer(queue, { door: doorOf(i), relayer })),
    ...range(size.storageUsers).map((i) =>
      runStorageUser({ load: storage, door: doorOf(i), user: `user-${i}` }, size.objects),
    ),
  ]).finally(() => world.setWeather({}));
  const verdict = await judgeQueue(queue, world, doorOf(0));
  return { verdict, queue, storage, witness, lostObjects: await findLostObjects(storage, doorOf(0)) };
}

/**
 * Most outages of the store that clients may see when one call in ten fails, as a share of their calls: without further tries it would
 * be twice as much, since most calls take several steps. All seven tries of a step fail once in ten million times; what is allowed is
 * for a machine that is too busy to answer in time.
 */
const MOST_OUTAGES = 0.15;

/** Checks that bad weather has cost nothing. */
function expectNothingLost(aftermath: Aftermath, size: StormSize): void {
  const { verdict, queue, storage, witness, lostObjects } = aftermath;
  const { lost, double, wrong409, apart } = verdict;
  expect({ lost, double, wrong409, apart, lostObjects }).toEqual({
    lost: [],
    double: [],
    wrong409: [],
    apart: [],
    lostObjects: [],
  });
  expect({ strange: witness.strange, queue: queue.wrongs, storage: storage.wrongs }).toEqual({
    strange: [],
    queue: [],
    storage: [],
  });
  expect(queue.creations.acknowledged).toBeGreaterThanOrEqual(size.requests);
  expect(verdict.stored).toBeGreaterThanOrEqual(queue.creations.acknowledged);
}

/** Says in one line what happened: calls, faults by kind and dependency, outages seen, and what was lost. */
function describeStorm(name: string, aftermath: Aftermath, world: FaultyWorld): string {
  const { verdict, queue, storage, witness } = aftermath;
  const calls = Object.values(witness.countByStatus).reduce((sum, count) => sum + count, 0);
  const statuses = Object.entries(witness.countByStatus).map(([status, count]) => `${status}: ${count}`);
  const { claims, reports } = queue.readBacks;
  return [
    `faults, ${name} on ${world.engine}: ${queue.creations.acknowledged} requests, ${calls} calls (${statuses.join(', ')})`,
    `slowest ${Math.round(witness.slowestMs())} ms`,
    `presigned URLs used ${storage.uses.all} times, ${storage.uses.repeated} of them again`,
    describeFaults(world),
    `503s ${witness.countByStatus[503] ?? 0} (${witness.outages.store} of the store), lost ${verdict.lost.length}, double ${verdict.double.length}, wrong 409 ${verdict.wrong409.length}`,
    `own writes found by reading back after 503 and 409: ${claims} claims, ${reports} reports`,
  ].join('; ');
}

/** Checks that something befell the calls to every dependency, and that tries again were not in vain. */
function expectStorm({ witness }: Aftermath, world: FaultyWorld): void {
  for (const proxy of Object.values(world.proxies)) expect(countFaults(proxy)).toBeGreaterThan(0);
  const calls = Object.values(witness.countByStatus).reduce((sum, count) => sum + count, 0);
  expect(witness.outages.store / calls).toBeLessThan(MOST_OUTAGES);
}

/** Two server processes on the same tables. */
async function openServers(world: FaultyWorld, stack: AsyncDisposableStack): Promise<readonly Door[]> {
  const gateways = await Promise.all([1, 2].map(() => startGateway({ env: world.env })));
  return gateways.map((gateway) => {
    stack.defer(async () => {
      expect(gateway.process.exitCode).toBeNull();
      await gateway.kill();
    });
    return stack.adopt(openServerDoor(gateway.url, CONNECTIONS), (door) => door.close());
  });
}

/** Two instances of the built function: its handler, called side by side by the events of an HTTP API. */
async function openFunctions(world: FaultyWorld, stack: AsyncDisposableStack): Promise<readonly Door[]> {
  const { file } = stack.use(await buildFunction());
  const instances = await Promise.all([1, 2].map(() => startFunction({ file, env: world.env })));
  return instances.map((instance) => openFunctionDoor(stack.use(instance)));
}

const WAYS = [
  { name: 'two servers', open: openServers },
  { name: 'two instances of the function', open: openFunctions },
];

describeWithDynamo('dependencies fail, under load', () => {
  describe.each(drawSome(WAYS, { of: 'ways through the storm', small: 1 }))('of $name', ({ name, open }) => {
    const stack = new AsyncDisposableStack();
    let world: FaultyWorld;
    let doors: readonly Door[];

    beforeAll(async () => {
      world = stack.use(await startFaultyWorld());
      doors = await open(world, stack);
    });
    afterAll(() => stack.disposeAsync());

    test(`one call in ten to each fails: ${SIZE.requests} requests, ${RELAYERS} relayers, ${SIZE.storageUsers * SIZE.objects} objects`, async () => {
      const relayers = await createRelayers(RELAYERS);
      const aftermath = await runStorm({ world, doors, relayers }, SIZE);
      console.info(describeStorm(name, aftermath, world));
      expectNothingLost(aftermath, SIZE);
      expectStorm(aftermath, world);
    });

    // What it shows by chance, `lostWrites.test.ts` shows by plan, in every run.
    test.runIf(isLong && open === openServers)(
      `two calls of three to DynamoDB fail: ${HURRICANE_SIZE.requests} requests, ${RELAYERS} relayers`,
      async () => {
        const relayers = await createRelayers(RELAYERS);
        const aftermath = await runStorm({ world, doors, relayers }, HURRICANE_SIZE);
        console.info(describeStorm(`${name}, two calls of three`, aftermath, world));
        expectNothingLost(aftermath, HURRICANE_SIZE);
        expect(aftermath.witness.outages.store, 'calls of which all tries failed').toBeGreaterThan(10);
      },
    );
  });
});
