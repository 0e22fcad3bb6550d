import { eventOfMove, type MessageFacts } from '../../../ports/webhookMessage.ts';
import type { Item } from '../attributes.ts';
import { readRecord } from '../requestItem.ts';

/**
 * A record of the stream of the requests' table, as Lambda and the API of streams have it. Its items' numbers and texts are those of the
 * table; bytes are not read here.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
 */
export interface StreamRecord {
  readonly eventName?: string;
  readonly dynamodb?: {
    readonly SequenceNumber?: string;
    readonly NewImage?: Item;
    readonly OldImage?: Item;
  };
  /** Who removed an item, if nobody asked for it: DynamoDB, once its time was up. */
  readonly userIdentity?: { readonly type?: string; readonly principalId?: string };
}

/** What happened to a request, and its place among all that happened to it. */
export interface Move extends MessageFacts {
  readonly place: string;
}

/** Digits of a sequence number at most; written out, they stand in order. */
const PLACE_DIGITS = 40;
/** Other items of the table have no status: stats, webhooks, params, markers. */
const isRequest = (image: Item | undefined): image is Item => image?.status?.S !== undefined;

/** Tells whether a request's status or claim has moved, and reads where to. @returns undefined: it is something else */
export function readMove({ eventName, dynamodb = {} }: StreamRecord): Move | undefined {
  const { NewImage: item, OldImage: before, SequenceNumber: sequence = '' } = dynamodb;
  if (!isRequest(item)) return undefined;
  const place = sequence.padStart(PLACE_DIGITS, '0');
  const record = readRecord(item);
  if (eventName === 'INSERT') return { event: 'request.created', at: record.createdAt, record, place };
  if (!isRequest(before)) return undefined;
  const isTaken = before.claimedBy?.S !== undefined && record.claimedBy !== undefined;
  const isOther = before.status?.S !== record.status || (isTaken && before.claimedBy?.S !== record.claimedBy);
  return isOther ? { event: eventOfMove(record.status), at: record.updatedAt, record, place } : undefined;
}

/** Reads the request that DynamoDB has removed because its time was up. @returns undefined: it is something else */
export function readExpiry({ eventName, dynamodb, userIdentity }: StreamRecord): Pick<Move, 'record'> | undefined {
  const item = dynamodb?.OldImage;
  const isByTime = userIdentity?.type === 'Service' && userIdentity.principalId === 'dynamodb.amazonaws.com';
  return eventName === 'REMOVE' && isByTime && isRequest(item) ? { record: readRecord(item) } : undefined;
}
