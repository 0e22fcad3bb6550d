import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type CancellationReason,
  GetItemCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { Removal } from '../../ports/adminStore.ts';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import { askStore } from './askStore.ts';
import { number, text } from './attributes.ts';
import { statsKeys } from './countMoves.ts';
import { type RequestHeader, type RequestTable, readHead } from './requestItem.ts';

/** Tries: each further one is another process that wrote the request, or the counts, at the same moment. */
const MAX_TRIES = 6;
/** Longest pause before the second, in milliseconds; it grows with each. */
const PAUSE_MS = 40;

/** Brings the counts of chains to the names by which they are counted. */
type BoundChains = (counts: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>;

interface RemoveContext {
  readonly table: RequestTable;
  readonly bound: BoundChains;
}

async function readRequest(
  { client, name: TableName }: RequestTable,
  requestId: string,
): Promise<RequestHeader | undefined> {
  const command = new GetItemCommand({ TableName, Key: { requestId: text(requestId) }, ConsistentRead: true });
  const { Item: item } = await askStore(() => client.send(command));
  return item === undefined ? undefined : readHead(item);
}

/** RequestHeader, params and count go together: the head only if it is where it was read. */
function removalOf(TableName: string, { record, params }: RequestHeader, [count, by]: readonly [string, number]) {
  const { requestId, status } = record;
  const head: TransactWriteItem = {
    Delete: {
      ...{ TableName, Key: { requestId: text(requestId) }, ConditionExpression: '#status = :status' },
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':status': text(status) },
    },
  };
  const counts: TransactWriteItem = {
    Update: {
      ...{ TableName, Key: { requestId: text(statsKeys.chains) }, UpdateExpression: 'ADD #count :by' },
      ExpressionAttributeNames: { '#count': count },
      ExpressionAttributeValues: { ':by': number(by) },
    },
  };
  if (typeof params !== 'string') return [head, counts];
  return [head, { Delete: { TableName, Key: { requestId: text(params) } } }, counts];
}

/** What another write at the same moment is told by: it goes, or shows what it has done, when this is tried again. */
const passes = ({ Code }: CancellationReason) =>
  Code === 'None' || Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict';

/** @returns whether it is done; false: others wrote meanwhile @throws DependencyUnavailableError */
async function removeAtOnce({ client }: RequestTable, items: TransactWriteItem[]): Promise<boolean> {
  // By its token the client's own further tries, after a lost answer, find themselves.
  const command = new TransactWriteItemsCommand({ TransactItems: items, ClientRequestToken: randomUUID() });
  return await askStore(async () => {
    try {
      await client.send(command);
      return true;
    } catch (error) {
      if (error instanceof TransactionCanceledException && error.CancellationReasons?.every(passes)) return false;
      throw error;
    }
  });
}

/**
 * Removes a request that nobody holds: its head, its params and its count in one transaction, so that a process that dies leaves no part
 * behind, which nothing would ever find.
 *
 * @throws DependencyUnavailableError: whether it is done is not known
 * @see docs/specification.md ADMIN-7
 */
export async function removeRequest({ table, bound }: RemoveContext, requestId: string): Promise<Removal> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) await pause(Math.random() * tries * PAUSE_MS);
    const head = await readRequest(table, requestId);
    if (head === undefined) return 'missing';
    const { status, chainName } = head.record;
    if (status === 'processing') return 'claimed';
    const [count = ['', 0] as const] = await bound(new Map([[`${status} ${chainName}`, -1]]));
    if (await removeAtOnce(table, removalOf(table.name, head, count))) return 'removed';
  }
  throw new DependencyUnavailableError('store');
}
