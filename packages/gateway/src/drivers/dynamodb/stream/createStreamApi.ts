import { DescribeTableCommand, type DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type { StreamRecord } from '../deliveries/createMoveRecorder.ts';

/** Records of one call: some 100 kB of requests, so that a batch is written within a second. */
const BATCH = 200;
const OK = 200;

/** A part of a stream, which is read in order. What is written to one item is in one shard, or later in a child of it. */
export interface Shard {
  readonly shardId: string;
  /** Absent: it has none, or that one has been forgotten. */
  readonly parentId?: string;
}

/** What one call has read. */
export interface StreamBatch {
  readonly records: readonly StreamRecord[];
  /** Where to read on; absent: the shard has ended. */
  readonly next?: string;
}

/** What a call of the stream was refused with, by AWS's name, or `UNREACHABLE`. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Makes a call of the API of streams. */
export type StreamCall = (
  operation: string,
  body: string,
) => Promise<{ readonly status: number; readonly text: string }>;

/** The stream of a table. Each function throws `StreamError`. */
export interface StreamApi {
  /** @returns the name of the stream; undefined: the table has none */
  find(): Promise<string | undefined>;
  /** All shards that are kept: a day's. */
  listShards(stream: string): Promise<readonly Shard[]>;
  /** Opens a shard behind a sequence number, or at its beginning. */
  open(stream: string, shardId: string, after: string | undefined): Promise<string>;
  read(iterator: string): Promise<StreamBatch>;
}

/** Answers as AWS gives them. */
interface ShardPage {
  readonly StreamDescription: {
    readonly Shards?: readonly { readonly ShardId: string; readonly ParentShardId?: string }[];
    readonly LastEvaluatedShardId?: string;
  };
}
interface RecordPage {
  readonly Records?: readonly StreamRecord[];
  readonly NextShardIterator?: string | null;
}

/** The part of AWS's error type behind its namespace. */
function codeOf(text: string): string {
  try {
    const { __type: type } = JSON.parse(text) as { __type?: string };
    return type?.split('#').at(-1) ?? 'UNREACHABLE';
  } catch {
    return 'UNREACHABLE';
  }
}

/**
 * Makes a client for the stream of a table.
 *
 * @param client - of the table
 * @param call - signs and sends
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB_Streams.html
 */
export function createStreamApi(client: DynamoDBClient, TableName: string, call: StreamCall): StreamApi {
  // Of each call the caller knows what it answers.
  async function ask<T>(operation: string, body: object): Promise<T> {
    const answer = await call(operation, JSON.stringify(body)).catch((cause: unknown) => {
      throw new StreamError('UNREACHABLE', `${operation}: ${String(cause)}`, { cause });
    });
    if (answer.status === OK) return JSON.parse(answer.text) as T;
    throw new StreamError(codeOf(answer.text), `${operation}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }

  return {
    async find() {
      const asked = client.send(new DescribeTableCommand({ TableName }));
      const { Table } = await asked.catch((cause: unknown) => {
        const isRefused = cause instanceof DynamoDBServiceException && cause.$fault === 'client';
        const code = isRefused ? cause.name : 'UNREACHABLE';
        throw new StreamError(code, `DescribeTable: ${String(cause)}`, { cause });
      });
      return Table?.StreamSpecification?.StreamEnabled === true ? Table.LatestStreamArn : undefined;
    },
    async listShards(StreamArn) {
      const shards: Shard[] = [];
      let ExclusiveStartShardId: string | undefined;
      do {
        const page = { StreamArn, ...(ExclusiveStartShardId !== undefined && { ExclusiveStartShardId }) };
        const { StreamDescription: answer } = await ask<ShardPage>('DescribeStream', page);
        for (const { ShardId: shardId, ParentShardId: parentId } of answer.Shards ?? []) {
          shards.push({ shardId, ...(parentId !== undefined && { parentId }) });
        }
        ExclusiveStartShardId = answer.LastEvaluatedShardId;
      } while (ExclusiveStartShardId !== undefined);
      return shards;
    },
    async open(StreamArn, ShardId, after) {
      const from =
        after === undefined
          ? { ShardIteratorType: 'TRIM_HORIZON' }
          : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after };
      const answer = await ask<{ ShardIterator: string }>('GetShardIterator', { StreamArn, ShardId, ...from });
      return answer.ShardIterator;
    },
    async read(ShardIterator) {
      const { Records: records = [], NextShardIterator } = await ask<RecordPage>('GetRecords', {
        ...{ ShardIterator, Limit: BATCH },
      });
      return { records, ...(NextShardIterator && { next: NextShardIterator }) };
    },
  };
}
