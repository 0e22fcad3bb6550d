import { randomInt } from 'node:crypto';
import { createLogRecorder, createSeededRandom } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createDynamoRig,
  DYNAMO_DELIVERIES,
  DYNAMO_TABLES,
  type DynamoRig,
  describeWithDynamo,
} from '../../../../test/rigs/dynamoStores.ts';
import { type StreamFault, type StreamServer, startStreamServer } from '../../../../test/rigs/startStreamServer.ts';
import { createStreamCall } from '../../../entry/createStreamCall.ts';
import type { StreamRecord } from '../deliveries/createMoveRecorder.ts';
import { createStreamApi } from './createStreamApi.ts';
import { createShardLeases } from './followShard.ts';
import { type StreamFollower, startStreamFollower } from './startStreamFollower.ts';

const PACE = { idleMs: 20, busyMs: 5, leastMs: 1, firstMs: 2, maxMs: 50, lookMs: 15, beatMs: 40, leaseMs: 400 };
const POLL_MS = 5;
const FAULTS: readonly StreamFault[] = [
  ...(['ExpiredIteratorException', 'LimitExceededException', 'InternalServerError', 'reset'] as const),
];

/** What has been recorded, in its order, by all. */
interface Told {
  readonly key: string;
  readonly sequence: number;
  readonly by: number;
}

const until = async (isDone: () => boolean) => {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
};

describeWithDynamo('the follower of a stream', () => {
  let rig: DynamoRig;
  let server: StreamServer;
  let told: Told[] = [];
  let followers: StreamFollower[] = [];
  let names = 0;
  const logger = createLogRecorder();
  beforeAll(async () => {
    rig = await createDynamoRig();
  });
  afterEach(async () => {
    server.onCall(() => undefined);
    await Promise.all(followers.map((one) => one.close()));
    followers = [];
    told = [];
    await server[Symbol.asyncDispose]();
  });
  afterAll(() => rig.dispose());

  const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
  const random = createSeededRandom(seed);
  const deliveriesOf = () => ({ client: rig.openClient(), name: DYNAMO_DELIVERIES });

  /** The stream has another name in each test, by the port of its server: so have its leases. */
  function follow(by: number, record: (batch: readonly StreamRecord[]) => Promise<void> = async () => {}, pace = PACE) {
    const client = rig.openClient();
    const environment = { AWS_ENDPOINT_URL_DYNAMODB_STREAMS: server.url };
    const found = createStreamApi(client, DYNAMO_TABLES.requests, createStreamCall(client, environment));
    const follower = startStreamFollower({
      api: { ...found, find: async () => server.url },
      deliveries: deliveriesOf(),
      async record(batch) {
        await record(batch);
        for (const { dynamodb } of batch) {
          told.push({ key: String(dynamodb?.NewImage?.key?.S), sequence: Number(dynamodb?.SequenceNumber), by });
        }
      },
      ...{ logger, now: Date.now, newHolder: () => `holder ${++names}`, pace },
    });
    followers.push(follower);
    return follower;
  }
  const leasesOf = () => createShardLeases({ deliveries: deliveriesOf(), stream: server.url, now: Date.now });
  const toldOf = (key: string) => [...new Set(told.filter((one) => one.key === key).map(({ sequence }) => sequence))];

  // Shows WEBHOOK-10.
  test('tells all, and of each key in order, while shards are split, calls fail and processes come and go', async () => {
    server = await startStreamServer(random);
    const written = new Map<string, number[]>();
    server.onCall(() => (random() < 0.1 ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined));
    let [first, second] = [follow(1), follow(2)];
    for (let round = 0; round < sized({ small: 40, long: 400 }); round++) {
      const key = `key ${Math.floor(random() * 12)}`;
      written.set(key, [...(written.get(key) ?? []), Number(server.write(key))]);
      if (random() < 0.1) server.split(1 + Math.floor(random() * 2));
      if (random() < 0.05) {
        await first.close();
        [first, second] = [second, follow(round + 3)];
      }
      if (random() < 0.3) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    const total = [...written.values()].flat().length;
    await until(() => new Set(told.map(({ sequence }) => sequence)).size === total);
    // The first time that each was told, whoever did: that is what is stored.
    for (const [key, sequences] of written) expect(toldOf(key), `seed ${seed}`).toEqual(sequences);
  });

  // Shows WEBHOOK-10.
  test('takes over what nobody beats for, from where it was saved; the one before saves nothing more', async () => {
    server = await startStreamServer(random);
    const sequences = Array.from({ length: 9 }, () => server.write('a'));
    const [shardId = ''] = server.shards.map((shard) => shard.shardId);
    const leases = leasesOf();
    const dead = await leases.take(shardId, 'dead', undefined);
    if (dead === undefined) throw new Error('the lease was not free');
    expect(await leases.beat(dead, sequences[3])).toBe(true);
    follow(1);
    await until(() => told.length > 0);
    await until(() => told.at(-1)?.sequence === Number(sequences[8]));
    expect(toldOf('a')).toEqual(sequences.slice(4).map(Number));
    expect(await leases.beat(dead, sequences[0])).toBe(false);
    expect(await leases.finish(dead)).toBe(false);
    const [stored] = await leases.list();
    expect(stored?.holder).not.toBe('dead');
  });

  // Shows WEBHOOK-10.
  test('saves only what was recorded, and tells it again until it is', async () => {
    server = await startStreamServer(random);
    const sequences = Array.from({ length: 5 }, () => Number(server.write('a')));
    let failures = 0;
    follow(1, async () => {
      if (++failures < 4) throw new Error('the outbox takes nothing');
    });
    await until(() => told.length >= 5);
    expect(failures).toBeGreaterThanOrEqual(4);
    expect(toldOf('a')).toEqual(sequences);
  });

  test('two share the shards; what one gives back the other one follows', async () => {
    server = await startStreamServer(random);
    for (let n = 0; n < 5; n++) server.split(2);
    const first = follow(1);
    await until(() => logger.lines.some(({ message }) => message.startsWith('follows')));
    follow(2);
    const keys = Array.from({ length: 40 }, (_, n) => `key ${n}`);
    const writeAll = () => {
      for (const key of keys) server.write(key);
    };
    writeAll();
    await until(() => new Set(told.map(({ key }) => key)).size === keys.length);
    await first.close();
    const before = told.length;
    writeAll();
    await until(() => told.length >= before + keys.length);
    expect(new Set(told.slice(before).map(({ by }) => by))).toEqual(new Set([2]));
  });

  test('what the stream tells some time after the move is read soon, and not after a whole pause', async () => {
    server = await startStreamServer(random);
    let reads = 0;
    server.onCall((operation) => {
      if (operation === 'GetRecords') reads++;
      return undefined;
    });
    const follower = follow(1, undefined, { ...PACE, idleMs: 600_000, busyMs: 600_000, leastMs: 5 });
    await until(() => reads > 0);
    follower.hint();
    const before = reads;
    await until(() => reads >= before + 3);
    const sequence = Number(server.write('late'));
    await until(() => told.length > 0);
    expect(toldOf('late')).toEqual([sequence]);
  });

  test('what a day has passed over is told of in the log, and the rest is recorded', async () => {
    server = await startStreamServer(random);
    const sequences = Array.from({ length: 8 }, () => server.write('a'));
    const [shardId = ''] = server.shards.map((shard) => shard.shardId);
    const leases = leasesOf();
    const gone = await leases.take(shardId, 'gone', undefined);
    if (gone === undefined) throw new Error('the lease was not free');
    await leases.beat(gone, sequences[1]);
    await leases.release(gone);
    server.trim();
    follow(1);
    await until(() => told.length >= 4);
    expect(toldOf('a')).toEqual(sequences.slice(4).map(Number));
    expect(logger.lines.map(({ fields }) => fields.code)).toContain('WEBHOOK_EVENTS_LOST');
  });
});
