/** Who reads the stream of a table, record by record. */
export interface StreamReader<R> {
  /** Reads the records since the last call. */
  read(): Promise<readonly R[]>;
}

/** A signature as the engines look for it; they check none. */
const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00';

interface Shards {
  readonly StreamDescription: { readonly Shards: readonly { readonly ShardId: string }[] };
}

/**
 * Reads the stream of an engine's table from its beginning on, as Lambda reads one.
 *
 * @param endpoint - of the engine
 */
export function createStreamReader<R>(endpoint: string, TableName: string): StreamReader<R> {
  /** The next place of each shard. */
  const places = new Map<string, string | undefined>();

  // Of each call the caller knows what it answers.
  async function ask<T>(call: string, body: object): Promise<T> {
    const headers = {
      'x-amz-target': `DynamoDBStreams_20120810.${call}`,
      'x-amz-date': '20260101T000000Z',
      'content-type': 'application/x-amz-json-1.0',
      authorization: AUTHORIZATION,
    };
    const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${call}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async function findShards(): Promise<void> {
    const { Streams } = await ask<{ Streams: { StreamArn: string }[] }>('ListStreams', { TableName });
    for (const { StreamArn } of Streams) {
      const { StreamDescription } = await ask<Shards>('DescribeStream', { StreamArn });
      for (const { ShardId } of StreamDescription.Shards) {
        if (places.has(ShardId)) continue;
        const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' };
        places.set(ShardId, (await ask<{ ShardIterator: string }>('GetShardIterator', from)).ShardIterator);
      }
    }
  }

  return {
    async read() {
      await findShards();
      const records: R[] = [];
      for (const [shard, ShardIterator] of places) {
        if (ShardIterator === undefined) continue;
        const answer = await ask<{ Records: R[]; NextShardIterator?: string }>('GetRecords', {
          ShardIterator,
        });
        records.push(...answer.Records);
        places.set(shard, answer.NextShardIterator);
      }
      return records;
    },
  };
}
