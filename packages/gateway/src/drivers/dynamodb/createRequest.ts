import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { Creation, StoredRequest, Submission } from '../../ports/requestStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, number, readText, text } from './attributes.ts';
import { type ParamsReader, packParams } from './params.ts';
import { createItems, expiryOf, isExpired, type RequestTable, readHead } from './requestItem.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** Looks at a marker until it agrees with what is stored: each further one is a rival, or a process that died. */
const MAX_LOOKS = 4;

/** What a creation needs beside the table. */
export interface CreateContext {
  readonly table: RequestTable;
  readonly params: ParamsReader;
  readonly get: (requestId: string) => Promise<StoredRequest | undefined>;
}

/** What a creation found in its place: nothing, the same (it was repeated), or another record, which may have expired. */
type Found = 'nothing' | 'same' | 'other' | 'expired';

/**
 * Stores a record. Params with an item of their own are written first: a head is whole from the moment it is there. If the process
 * dies in between, params without a head are left, which nothing shows.
 */
async function storeRecord({ table, params }: CreateContext, record: StoredRequest): Promise<Found> {
  const { client, name: TableName } = table;
  const packed = await packParams(record.paramsJson);
  const items = createItems(record, packed, table);
  const paramsItem = items.params;
  if (paramsItem !== undefined) {
    await askStore(() => client.send(new PutItemCommand({ TableName, Item: paramsItem })));
    params.keep(readText(paramsItem, 'requestId'), packed);
  }
  const answer = await askConditionally(() =>
    client.send(
      new PutItemCommand({
        TableName,
        Item: items.head,
        ConditionExpression: 'attribute_not_exists(requestId)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if (answer.done || answer.item === undefined) return 'nothing';
  const head = readHead(answer.item);
  if (isExpired(head, table.now())) return 'expired';
  const own = readHead(items.head);
  const isSame =
    head.record.createdAt === own.record.createdAt && Buffer.from(head.params).equals(Buffer.from(own.params));
  return isSame ? 'same' : 'other';
}

/** Says by which record a signature was taken: a plain one is stored on its own, whoever else carries the signature. */
interface Marker {
  readonly requestId: string;
  readonly isPlain: boolean;
}

const markerKey = (signatureKey: string) => ({ requestId: text(`once#${signatureKey}`) });

function markerItem(table: RequestTable, key: Item, { requestId, isPlain }: Marker): Item {
  const expiresAt = expiryOf(table.pendingRetentionDays, table.now());
  return {
    ...key,
    markedId: text(requestId),
    ...(isPlain && { plain: number(1) }),
    ...(expiresAt !== undefined && { [TTL_ATTRIBUTE]: number(expiresAt) }),
  };
}

/** Marks a signature as taken, unless it is. @returns the marker that then stands */
async function markTaken(table: RequestTable, signatureKey: string, marker: Marker): Promise<Marker> {
  const { client, name: TableName, now } = table;
  const command = new PutItemCommand({
    TableName,
    Item: markerItem(table, markerKey(signatureKey), marker),
    ConditionExpression: 'attribute_not_exists(requestId) OR #expiresAt <= :now',
    ExpressionAttributeNames: { '#expiresAt': TTL_ATTRIBUTE },
    ExpressionAttributeValues: { ':now': number(Math.floor(now() / 1000)) },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const answer = await askConditionally(() => client.send(command));
  if (answer.done || answer.item === undefined) return marker;
  return { requestId: readText(answer.item, 'markedId'), isPlain: answer.item.plain !== undefined };
}

/** Puts another marker in the place of one whose record is not there. */
async function replaceMarker(table: RequestTable, signatureKey: string, from: Marker, to: Marker): Promise<void> {
  const { client, name: TableName } = table;
  const command = new PutItemCommand({
    TableName,
    Item: markerItem(table, markerKey(signatureKey), to),
    ConditionExpression: 'markedId = :from',
    ExpressionAttributeValues: { ':from': text(from.requestId) },
  });
  await askConditionally(() => client.send(command));
}

/**
 * Stores a record unless one with its signature is there. The marker is written first, so that of any number of calls one record comes;
 * where its process died before the record was there, the next call writes it under the id that the marker names.
 */
async function createOnce(context: CreateContext, record: StoredRequest, signatureKey: string): Promise<Creation> {
  const { table, get } = context;
  const own = { requestId: record.requestId, isPlain: false };
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const marker = await markTaken(table, signatureKey, own);
    if (marker.requestId !== own.requestId) {
      const standing = await get(marker.requestId);
      if (standing !== undefined) return { outcome: 'exists', record: standing };
    }
    const named = { ...record, requestId: marker.requestId };
    // A plain creation that is still under way becomes a request of its own.
    const found = marker.isPlain ? 'expired' : await storeRecord(context, named);
    if (found === 'expired') await replaceMarker(table, signatureKey, marker, own);
    else if (marker.requestId === own.requestId && found !== 'other') return { outcome: 'created' };
    else {
      const standing = await get(marker.requestId);
      if (standing !== undefined) return { outcome: 'exists', record: standing };
    }
  }
  throw new DependencyUnavailableError('store');
}

/**
 * Stores a new request, or finds the one that carries the same signature. Repeating it with the same `requestId` changes nothing.
 *
 * @throws DependencyUnavailableError
 * @see docs/specification.md ONCE-1
 */
export async function createRequest(
  context: CreateContext,
  record: StoredRequest,
  submission: Submission | undefined,
): Promise<Creation> {
  if (submission?.once === true) return await createOnce(context, record, submission.signatureKey);
  const plain = { requestId: record.requestId, isPlain: true };
  await Promise.all([
    storeRecord(context, record),
    submission && markTaken(context.table, submission.signatureKey, plain),
  ]);
  return { outcome: 'created' };
}
