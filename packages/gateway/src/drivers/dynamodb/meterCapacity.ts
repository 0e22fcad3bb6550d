import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Units that calls have consumed, as the engine counts them; those of indexes are among them. */
export interface CapacityMeter {
  readonly reads: number;
  readonly writes: number;
  /** Calls; DynamoDB tells no units of those that it refuses. */
  readonly calls: number;
  reset(): void;
  /** Gives the sums, and begins anew. */
  take(): { readonly reads: number; readonly writes: number };
}

const writeCommands = new Set([
  'PutItemCommand',
  'UpdateItemCommand',
  'DeleteItemCommand',
  'TransactWriteItemsCommand',
]);
const dataCommands = new Set([
  ...writeCommands,
  'GetItemCommand',
  'QueryCommand',
  'ScanCommand',
  'BatchGetItemCommand',
]);

interface Answered {
  readonly ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[];
}

/**
 * Has a client ask what each call consumed, and adds it up.
 *
 * @param client - as `createDynamoClient` makes it
 * @returns the sums since the last reset
 */
export function meterCapacity(client: DynamoDBClient): CapacityMeter {
  const sums = { reads: 0, writes: 0, calls: 0 };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (call) => {
        if (!dataCommands.has(commandName)) return await next(call);
        sums.calls++;
        const result = await next({ ...call, input: { ...call.input, ReturnConsumedCapacity: 'INDEXES' } });
        // Data calls answer with what they consumed, if asked.
        const consumed = [(result.output as Answered).ConsumedCapacity ?? []].flat();
        const units = consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
        sums[writeCommands.has(commandName) ? 'writes' : 'reads'] += units;
        return result;
      },
    { step: 'initialize', name: 'meterCapacity' },
  );
  return {
    get reads() {
      return sums.reads;
    },
    get writes() {
      return sums.writes;
    },
    get calls() {
      return sums.calls;
    },
    reset: () => Object.assign(sums, { reads: 0, writes: 0, calls: 0 }),
    take: () => {
      const { reads, writes } = sums;
      Object.assign(sums, { reads: 0, writes: 0, calls: 0 });
      return { reads, writes };
    },
  };
}
