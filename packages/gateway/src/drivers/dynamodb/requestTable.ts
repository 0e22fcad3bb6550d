import { crc32 } from 'node:zlib';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** What every function on the requests' table is given. */
export interface RequestTable {
  readonly client: DynamoDBClient;
  readonly name: string;
  /** Partitions of one status, and of one chain, in their indexes; it may grow, never shrink. */
  readonly shards: number;
  /** Days after which finished requests expire; 0: never. */
  readonly retentionDays: number;
  /** Days after which requests expire that nobody has claimed; 0: never. */
  readonly pendingRetentionDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const MS_PER_SECOND = 1000;
const SECONDS_PER_DAY = 86_400;

/**
 * Tells when what is kept for some days from now on expires.
 *
 * @param days - 0: never
 * @param now - milliseconds since the epoch
 * @returns seconds since the epoch; undefined: never
 */
export function expiryOf(days: number, now: number): number | undefined {
  return days === 0 ? undefined : Math.floor(now / MS_PER_SECOND) + days * SECONDS_PER_DAY;
}

/** Names the partition of an index that a request is in: `pending#3`. */
export function shardKey(value: string, requestId: string, shards: number): string {
  return `${value}#${crc32(requestId) % shards}`;
}

/** Names all partitions of an index that hold requests of one status or chain. */
export function shardKeys(value: string, shards: number): string[] {
  return Array.from({ length: shards }, (_, shard) => `${value}#${shard}`);
}
