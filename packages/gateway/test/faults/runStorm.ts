import type { RelayerClient } from '../rigs/relayerClient.ts';
import { addRelayersBy } from './addRelayersBy.ts';
import type { Door } from './door.ts';
import { judgeQueue, type Verdict } from './judgeQueue.ts';
import { createQueueLoad, type QueueLoad, runCreator, runRelayer } from './queueLoad.ts';
import type { FaultyWorld } from './startFaultyWorld.ts';
import { findObjectFault, runStorageUser, type StorageLoad } from './storageLoad.ts';
import type { Weather } from './weather.ts';
import { createWitness, type Witness } from './witness.ts';

/** How much is to happen while calls are failing. */
export interface StormSize {
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
export interface Aftermath {
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
export async function runStorm({ world, doors, relayers }: StormParts, size: StormSize): Promise<Aftermath> {
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
