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
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Names the partition of an index that a request is in: `pending#3`. */
export function shardKey(value: string, requestId: string, shards: number): string {
  return `${value}#${crc32(requestId) % shards}`;
}

/** Names all partitions of an index that hold requests of one status or chain. */
export function shardKeys(value: string, shards: number): string[] {
  return Array.from({ length: shards }, (_, shard) => `${value}#${shard}`);
}
