import { QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { createBackOff, pause } from '@prism-gateway/runtime';
import type { Logger } from '../../../ports/logger.ts';
import { askConditionally, askStore } from '../askStore.ts';
import { type Item, number, readNumber, readText, text } from '../attributes.ts';
import type { StreamRecord } from '../deliveries/createMoveRecorder.ts';
import type { Deliveries } from '../webhookRegister.ts';
import { type StreamApi, StreamError } from './createStreamApi.ts';

/**
 * Who follows which shard of a stream, and how far. A lease is an item of the deliveries' table:
 *
 *   free -> held by a process (take) -> held, further on (save, beat) -> free (release) or ended (finish)
 *
 * Each write makes `beats` grow. A process that holds a lease beats; once nobody has beaten for a while, by the clock of whoever looks,
 * another process takes it from where it stands. What the one before still writes is refused: `holder` is another for each time that a
 * lease is taken. Two processes may follow one shard for a moment: what they record is stored once, in the same order.
 */

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

/** How often it is stored how far a shard is recorded, in milliseconds: what was recorded since is recorded again after a kill, and stored once. */
const SAVE_MS = 500;

/** How often a shard is read, in milliseconds. */
export interface ReadPauses {
  /** While nothing moves. */
  readonly idleMs: number;
  /** At most for a while after something has, for AWS tells of it some tenths of a second later; the first pauses are shorter. */
  readonly busyMs: number;
  /** At least, however much moves: each read is billed. */
  readonly leastMs: number;
  /** After faults: at first, and at most. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Tells of what this process has moved itself. */
export interface Hints {
  /** When the last one came, on a clock that is never set, in milliseconds. */
  readonly lastAt: () => number;
  /** Resolves with the next one, or when the time is up. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export interface FollowContext {
  readonly api: StreamApi;
  readonly leases: ShardLeases;
  readonly stream: string;
  /** Stores what a batch tells. Each event may come several times. */
  readonly record: (batch: readonly StreamRecord[]) => Promise<void>;
  readonly hints: Hints;
  readonly pauses: ReadPauses;
  readonly logger: Logger;
}

/** How long after a move reads are frequent, in milliseconds. */
const BUSY_FOR_MS = 2000;

/** A shard as it is followed. */
interface Reading {
  /** All up to there is recorded. */
  sequence: string | undefined;
  /** All up to there is recorded, and stored as such. */
  saved: string | undefined;
  savedAt: number;
  /** Where to read on; undefined: behind the sequence number. */
  iterator: string | undefined;
  readAt: number;
  movedAt: number;
  /** Reads in a row that have found nothing since something has moved. */
  misses: number;
}

const sequenceOf = (records: readonly StreamRecord[]) => records.at(-1)?.dynamodb?.SequenceNumber;

/** What is done about a fault of the stream. @returns false: the shard is no more */
function recoverFrom(reading: Reading, error: unknown, { logger }: FollowContext): boolean {
  reading.iterator = undefined;
  const code = error instanceof StreamError ? error.code : 'WEBHOOK_STREAM';
  if (code === 'ExpiredIteratorException') return true;
  if (code === 'ResourceNotFoundException') return false;
  const why = error instanceof Error ? String(error.cause ?? error) : String(error);
  if (code === 'TrimmedDataAccessException') {
    // A day has passed since anybody followed it.
    reading.sequence = undefined;
    logger.error({ code: 'WEBHOOK_EVENTS_LOST', why }, 'the stream has forgotten moves that no webhook was told of');
  } else logger.warn({ code: 'WEBHOOK_STREAM', why }, 'the stream of moves is read again');
  return true;
}

/** Reads once, and records what was read. @returns whether the shard goes on */
async function readOn(context: FollowContext, shardId: string, reading: Reading): Promise<boolean> {
  const { api, stream, record } = context;
  if (context.hints.lastAt() > reading.readAt) reading.misses = 0;
  reading.readAt = performance.now();
  reading.iterator ??= await api.open(stream, shardId, reading.sequence);
  const { records, next } = await api.read(reading.iterator);
  if (records.length > 0) {
    await record(records);
    reading.sequence = sequenceOf(records) ?? reading.sequence;
    reading.movedAt = performance.now();
    reading.misses = 0;
  } else reading.misses++;
  reading.iterator = next;
  return next !== undefined;
}

/** Stores how far the shard is recorded, if that has changed for a while. @returns whether the lease is still held */
async function save({ leases }: FollowContext, lease: HeldLease, reading: Reading): Promise<boolean> {
  const { sequence, saved, savedAt } = reading;
  if (sequence === saved || sequence === undefined || performance.now() - savedAt < SAVE_MS) return true;
  const isHeld = await leases.beat(lease, sequence);
  Object.assign(reading, { saved: sequence, savedAt: performance.now() });
  return isHeld;
}

/** Waits until it is worth reading again. */
async function rest({ hints, pauses }: FollowContext, reading: Reading, signal: AbortSignal): Promise<void> {
  const sinceRead = performance.now() - reading.readAt;
  if (sinceRead < pauses.leastMs) await pause(pauses.leastMs - sinceRead, signal);
  if (hints.lastAt() > reading.readAt || reading.movedAt > reading.readAt) return;
  const isBusy = performance.now() - Math.max(hints.lastAt(), reading.movedAt) < BUSY_FOR_MS;
  const soonMs = Math.min(pauses.busyMs, pauses.leastMs * 2 ** reading.misses);
  await hints.wait(isBusy ? soonMs : pauses.idleMs, signal);
}

/**
 * Follows a shard until it has ended, somebody else has taken its lease, or the signal comes; then the lease is given back.
 *
 * @see docs/specification.md WEBHOOK-10
 */
export async function followShard(context: FollowContext, lease: HeldLease, signal: AbortSignal): Promise<void> {
  const { leases } = context;
  const { shardId, sequence } = lease;
  const never = Number.NEGATIVE_INFINITY;
  const reading: Reading = {
    ...{ sequence, saved: sequence, savedAt: never, iterator: undefined, readAt: never, movedAt: never, misses: 0 },
  };
  const backOff = createBackOff({ ...context.pauses, random: Math.random, signal });
  while (!signal.aborted) {
    try {
      if (!(await readOn(context, shardId, reading))) {
        await leases.finish(lease);
        return;
      }
      if (!(await save(context, lease, reading))) return;
      backOff.reset();
      await rest(context, reading, signal);
    } catch (error) {
      if (!recoverFrom(reading, error, context)) break;
      await backOff.wait();
    }
  }
  if (reading.sequence !== reading.saved) await leases.beat(lease, reading.sequence);
  await leases.release(lease);
}
