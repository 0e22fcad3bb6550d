/**
 * Who follows which shard of a stream, and how far. A lease is an item of the deliveries' table:
 *
 *   free -> held by a process (take) -> held, further on (save, beat) -> free (release) or ended (finish)
 *
 * Each write makes `beats` grow. A process that holds a lease beats; once nobody has beaten for a while, by the clock of whoever looks,
 * another process takes it from where it stands. What the one before still writes is refused: `holder` is another for each time that a
 * lease is taken. Two processes may follow one shard for a moment: what they record is stored once, in the same order.
 */
import { QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { askConditionally, askStore } from '../askStore.ts';
import { type Item, number, readNumber, readText, text } from '../attributes.ts';
import type { Deliveries } from '../deliveries/webhookHealth.ts';

/** How long a lease is kept that nobody writes to, in seconds: longer than AWS keeps its shard. */
const KEPT_SECONDS = 3 * 86_400;

/** A lease as it is stored. */
export interface StoredLease {
  readonly shardId: string;
  readonly beats: number;
  /** Absent: it is free. */
  readonly holder?: string;
  /** All up to there is recorded; absent: nothing is. */
  readonly sequence?: string;
  /** Whether all of its shard is recorded, and nothing can come. */
  readonly isEnded: boolean;
}

/** A lease that this process has taken. */
export interface HeldLease {
  readonly shardId: string;
  readonly holder: string;
  /** Where to read on. */
  readonly sequence?: string;
}

interface LeaseContext {
  readonly deliveries: Deliveries;
  /** Name of the stream. */
  readonly stream: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The leases of a stream. Each function throws `DependencyUnavailableError`. */
export interface ShardLeases {
  list(): Promise<readonly StoredLease[]>;
  /**
   * @param seen - the lease as it was listed; absent: it was not
   * @returns undefined: somebody else was faster
   */
  take(shardId: string, holder: string, seen: StoredLease | undefined): Promise<HeldLease | undefined>;
  /** Says that its holder lives, and how far it is, if that is known. @returns whether it is still its holder */
  beat(lease: HeldLease, sequence?: string): Promise<boolean>;
  /** Ends it: all of the shard is recorded. @returns whether it was still its holder */
  finish(lease: HeldLease): Promise<boolean>;
  /** Gives it back. */
  release(lease: HeldLease): Promise<void>;
}

const laneOf = (stream: string) => `stream#${stream}`;

function readLease(item: Item): StoredLease {
  return {
    ...{ shardId: readText(item, 'place'), beats: readNumber(item, 'beats'), isEnded: item.endedAt !== undefined },
    ...(item.holder !== undefined && { holder: readText(item, 'holder') }),
    ...(item.recordedTo !== undefined && { sequence: readText(item, 'recordedTo') }),
  };
}

interface Write {
  readonly shardId: string;
  readonly set?: Item;
  readonly remove?: string;
  readonly condition: string;
  readonly values: Item;
}

/** Makes the leases of a stream. */
export function createShardLeases({ deliveries, stream, now }: LeaseContext): ShardLeases {
  const { client, name: TableName } = deliveries;
  const lane = text(laneOf(stream));

  async function write({ shardId, set = {}, remove, condition, values }: Write) {
    const all: Item = { ...set, expiresAt: number(Math.floor(now() / 1000) + KEPT_SECONDS) };
    const names = Object.keys(all);
    const command = new UpdateItemCommand({
      ...{ TableName, Key: { lane, place: text(shardId) }, ConditionExpression: condition },
      UpdateExpression: [
        `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
        ...(remove === undefined ? [] : [`REMOVE ${remove}`]),
        'ADD beats :one',
      ].join(' '),
      ExpressionAttributeValues: {
        ...Object.fromEntries(names.map((name) => [`:${name}`, all[name] ?? text('')])),
        ...{ ...values, ':one': number(1) },
      },
      ...{ ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
    });
    return await askConditionally(() => client.send(command));
  }

  const writeHeld = ({ shardId, holder }: HeldLease, change: Pick<Write, 'set' | 'remove'>) =>
    write({ shardId, ...change, condition: 'holder = :holder', values: { ':holder': text(holder) } });

  return {
    async list() {
      const leases: StoredLease[] = [];
      let ExclusiveStartKey: Item | undefined;
      do {
        const command = new QueryCommand({
          ...{ TableName, ConsistentRead: true, KeyConditionExpression: 'lane = :lane' },
          ExpressionAttributeValues: { ':lane': lane },
          ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }),
        });
        const { Items = [], LastEvaluatedKey } = await askStore(() => client.send(command));
        leases.push(...Items.map(readLease));
        ExclusiveStartKey = LastEvaluatedKey;
      } while (ExclusiveStartKey !== undefined);
      return leases;
    },
    async take(shardId, holder, seen) {
      const answer = await write({
        ...{ shardId, set: { holder: text(holder) } },
        condition:
          seen === undefined ? 'attribute_not_exists(lane)' : 'beats = :beats AND attribute_not_exists(endedAt)',
        values: seen === undefined ? {} : { ':beats': number(seen.beats) },
      });
      const item = answer.done ? answer.output.Attributes : answer.item;
      // Refused, and ours: an earlier try of this call has written it.
      if (item?.holder?.S !== holder) return undefined;
      const { sequence } = readLease(item);
      return { shardId, holder, ...(sequence !== undefined && { sequence }) };
    },
    async beat(lease, sequence) {
      const set = sequence === undefined ? {} : { recordedTo: text(sequence) };
      return (await writeHeld(lease, { set })).done;
    },
    async finish(lease) {
      const answer = await writeHeld(lease, { set: { endedAt: number(now()) }, remove: 'holder' });
      return answer.done || (answer.item !== undefined && readLease(answer.item).isEnded);
    },
    async release(lease) {
      await writeHeld(lease, { remove: 'holder' });
    },
  };
}
