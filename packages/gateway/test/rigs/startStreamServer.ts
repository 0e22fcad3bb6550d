import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { StreamRecord } from '../../src/drivers/dynamodb/deliveries/createMoveRecorder.ts';

/** A shard takes the keys that hash into its range. */
interface ServedShard {
  readonly shardId: string;
  readonly parentId: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly records: StreamRecord[];
  isClosed: boolean;
}

/** What a call is answered with once: an error of AWS, or a connection that breaks off. */
export type StreamFault = 'ExpiredIteratorException' | 'LimitExceededException' | 'InternalServerError' | 'reset';

/** A server of DynamoDB's API of streams, whose shards are split, closed and forgotten as AWS does it, and which fails as asked. */
export interface StreamServer extends AsyncDisposable {
  readonly url: string;
  /** Appends a write of a key. @returns its sequence number */
  write(key: string): string;
  /** Closes a shard, at random; its keys go on in so many children. */
  split(children: number): void;
  /** Forgets what a day has passed over: all that is in closed shards, and their names, or the first records of open ones. */
  trim(): void;
  /** Asked before each call. */
  onCall(judge: (operation: string) => StreamFault | undefined): void;
  /** Shards that nothing is written to any more, and all. */
  readonly shards: readonly ServedShard[];
}

/** Small, so that a shard takes many calls, and a stream many pages. */
const [RECORDS_A_CALL, SHARDS_A_PAGE] = [3, 5];
const HASHES = 1000;

function hashOf(key: string): number {
  let hash = 7;
  for (const character of key) hash = (hash * 31 + character.charCodeAt(0)) % HASHES;
  return hash;
}

class Refusal extends Error {}

/** Starts it on 127.0.0.1, with one open shard. @param random - from 0 to 1 */
export async function startStreamServer(random: () => number): Promise<StreamServer> {
  let [sequence, opened] = [100, 0];
  let judge: (operation: string) => StreamFault | undefined = () => undefined;
  let shards: ServedShard[] = [];
  const open = (parentId: string | undefined, from: number, to: number) => {
    const shardId = `shardId-${String(++opened).padStart(8, '0')}`;
    shards.push({ shardId, parentId, from, to, records: [], isClosed: false });
  };
  open(undefined, 0, HASHES);

  function find(shardId: string): ServedShard {
    const found = shards.find((shard) => shard.shardId === shardId);
    if (found === undefined) throw new Refusal('ResourceNotFoundException');
    return found;
  }

  function describe({ ExclusiveStartShardId: after }: Record<string, string>) {
    const place = after === undefined ? 0 : shards.findIndex(({ shardId }) => shardId === after) + 1;
    const page = shards.slice(place, place + SHARDS_A_PAGE);
    const isLast = place + page.length >= shards.length;
    return {
      StreamDescription: {
        Shards: page.map(({ shardId: ShardId, parentId: ParentShardId }) => ({ ShardId, ParentShardId })),
        ...(!isLast && { LastEvaluatedShardId: page.at(-1)?.shardId }),
      },
    };
  }

  function getIterator({ ShardId = '', ShardIteratorType, SequenceNumber = '' }: Record<string, string>) {
    const { records } = find(ShardId);
    if (ShardIteratorType === 'TRIM_HORIZON') return { ShardIterator: `${ShardId}/0` };
    if (records[0] !== undefined && Number(SequenceNumber) + 1 < Number(records[0].dynamodb?.SequenceNumber)) {
      throw new Refusal('TrimmedDataAccessException');
    }
    return { ShardIterator: `${ShardId}/${SequenceNumber}` };
  }

  function getRecords({ ShardIterator = '' }: Record<string, string>) {
    const [shardId = '', after = '0'] = ShardIterator.split('/');
    const shard = find(shardId);
    const behind = shard.records.filter((one) => Number(one.dynamodb?.SequenceNumber) > Number(after));
    const Records = behind.slice(0, RECORDS_A_CALL);
    const isEnd = shard.isClosed && Records.length === behind.length;
    const last = Records.at(-1)?.dynamodb?.SequenceNumber ?? after;
    return { Records, NextShardIterator: isEnd ? null : `${shardId}/${last}` };
  }

  const operations: Record<string, (body: Record<string, string>) => object> = {
    ...{ DescribeStream: describe, GetShardIterator: getIterator, GetRecords: getRecords },
  };
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const body = JSON.parse(await text(request)) as Record<string, string>;
    const fault = judge(operation);
    if (fault === 'reset') {
      request.socket.destroy();
      return;
    }
    try {
      if (fault !== undefined) throw new Refusal(fault);
      response.end(JSON.stringify(operations[operation]?.(body) ?? {}));
    } catch (error) {
      const type = error instanceof Refusal ? error.message : 'InternalServerError';
      response.writeHead(400).end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}` }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // A listening TCP server has an AddressInfo.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    write(key) {
      const hash = hashOf(key);
      const shard = shards.find(({ isClosed, from, to }) => !isClosed && from <= hash && hash < to);
      const SequenceNumber = String(++sequence);
      shard?.records.push({ eventName: 'MODIFY', dynamodb: { SequenceNumber, NewImage: { key: { S: key } } } });
      return SequenceNumber;
    },
    split(children) {
      const candidates = shards.filter(({ isClosed, from, to }) => !isClosed && to - from >= children);
      const shard = candidates[Math.floor(random() * candidates.length)];
      if (shard === undefined) return;
      shard.isClosed = true;
      const { shardId, from, to } = shard;
      const edges = Array.from({ length: children + 1 }, (_, n) => from + Math.floor(((to - from) * n) / children));
      for (let n = 0; n < children; n++) open(shardId, edges[n] ?? from, edges[n + 1] ?? to);
    },
    trim() {
      shards = shards.filter(({ isClosed }) => !isClosed);
      for (const { records } of shards) records.splice(0, Math.ceil(records.length / 2));
    },
    onCall(next) {
      judge = next;
    },
    get shards() {
      return shards;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
