import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { createSemaphore } from '@prism-gateway/runtime';
import { MAX_WAITING } from '../../../ports/deliveryRules.ts';
import type { Logger } from '../../../ports/logger.ts';
import { eventOfMove, type MessageFacts } from '../../../ports/webhookMessage.ts';
import { addCounts, createChainBound } from '../adminStore.ts';
import { askConditionally } from '../askStore.ts';
import { BrokenItemError, type Item } from '../attributes.ts';
import { statsKeys } from '../countMoves.ts';
import { type RequestTable, readRecord } from '../requestItem.ts';
import { countDropped, type Deliveries, type RegisteredWebhook, type WebhookRegister } from '../webhookRegister.ts';
import { countWaiting, createDeliveryItem } from './deliveryItem.ts';

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
interface Move extends MessageFacts {
  readonly place: string;
}

/** Digits of a sequence number at most; written out, they stand in order. */
const PLACE_DIGITS = 40;
/** Other items of the table have no status: stats, webhooks, params, markers. */
const isRequest = (image: Item | undefined): image is Item => image?.status?.S !== undefined;

/** Tells whether a request's status or claim has moved, and reads where to. @returns undefined: it is something else */
function readMove({ eventName, dynamodb = {} }: StreamRecord): Move | undefined {
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
function readExpiry({ eventName, dynamodb, userIdentity }: StreamRecord): Pick<Move, 'record'> | undefined {
  const item = dynamodb?.OldImage;
  const isByTime = userIdentity?.type === 'Service' && userIdentity.principalId === 'dynamodb.amazonaws.com';
  return eventName === 'REMOVE' && isByTime && isRequest(item) ? { record: readRecord(item) } : undefined;
}

/** How long a count of what waits is good for, in milliseconds; what this process adds is counted along. */
const COUNT_MS = 5000;
/** How far the clocks of two processes may be apart, in milliseconds: who moves a request may be another one than who registers. */
const CLOCKS_APART_MS = 60_000;
/** Writes of one batch under way at once. */
const MAX_WRITES = 32;

interface RecorderContext {
  readonly requests: Pick<RequestTable, 'client' | 'name'>;
  readonly deliveries: Deliveries;
  readonly webhooks: Pick<WebhookRegister, 'list'>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Has webhooks looked at, by their ids. */
  readonly wake: (webhookIds: readonly string[]) => Promise<void>;
  /** Most deliveries that wait for one webhook. */
  readonly maxWaiting?: number;
}

/** Writes what a stream tells into the outbox, and the stats. */
export interface MoveRecorder {
  /**
   * Takes a batch, which may have come before, whole or in part: each event is stored once.
   *
   * @throws DependencyUnavailableError: it is to come again
   */
  record(batch: readonly StreamRecord[]): Promise<void>;
}

/** Whether a move is one that a webhook was registered for: a stream that is followed late tells of earlier ones too. */
function wants(webhook: RegisteredWebhook, { event, record, at }: Move): boolean {
  const { enabled, events, chainName = record.chainName, signer = record.signer } = webhook;
  const isOfSigner = signer.toLowerCase() === record.signer.toLowerCase();
  const isEarlier = at < webhook.createdAt - CLOCKS_APART_MS;
  return enabled && !isEarlier && events.includes(event) && chainName === record.chainName && isOfSigner;
}

/** Knows about how much waits for each webhook, without counting it each time. */
function createRoom({ deliveries, now, maxWaiting = MAX_WAITING }: RecorderContext) {
  const counts = new Map<string, { count: number; at: number }>();
  return {
    async has(webhookId: string, { event }: Move): Promise<boolean> {
      let known = counts.get(webhookId);
      if (known === undefined || now() - known.at > COUNT_MS) {
        known = { count: await countWaiting(deliveries, webhookId, maxWaiting), at: now() };
        counts.set(webhookId, known);
      }
      // Strangers make requests: what they post leaves room for what became of them.
      return known.count < (event === 'request.created' ? maxWaiting / 2 : maxWaiting);
    },
    add(webhookId: string): void {
      const known = counts.get(webhookId);
      if (known !== undefined) known.count++;
    },
  };
}

/** Reads one record; one that nobody here has written is told of and passed over, for it would stop all behind it. */
function readSafely<T>(logger: Logger, read: (record: StreamRecord) => T, record: StreamRecord): T | undefined {
  try {
    return read(record);
  } catch (error) {
    if (!(error instanceof BrokenItemError)) throw error;
    logger.error({ code: error.code, reason: error.message }, 'a record of the stream was passed over');
    return undefined;
  }
}

/** Writes a batch's events, each once, and an earlier one of a request never after a later one. */
async function writeOutbox(
  context: RecorderContext,
  room: ReturnType<typeof createRoom>,
  { moves, webhook }: { readonly moves: readonly Move[]; readonly webhook: RegisteredWebhook },
): Promise<number> {
  const { deliveries, now } = context;
  const { webhookId } = webhook;
  const wanted = moves.filter((move) => wants(webhook, move));
  const writes = createSemaphore(MAX_WRITES);
  const ofRequests = Map.groupBy(wanted, ({ record }) => record.requestId);
  let dropped = 0;
  async function writeOne(move: Move): Promise<void> {
    if (!(await room.has(webhookId, move))) {
      dropped++;
      return;
    }
    const { client, name: TableName } = deliveries;
    const Item = createDeliveryItem({ ...move, webhookId, now: Math.min(now(), move.at) });
    const command = new PutItemCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(lane)' });
    if ((await askConditionally(() => client.send(command))).done) room.add(webhookId);
  }
  await Promise.all(
    [...ofRequests.values()].map((ofOne) =>
      writes.run(async () => {
        for (const move of ofOne.toSorted((a, b) => (a.place < b.place ? -1 : 1))) await writeOne(move);
      }),
    ),
  );
  if (dropped > 0) await countDropped(deliveries, webhookId, { events: dropped, at: now() });
  return wanted.length - dropped;
}

/**
 * Makes what the function on the stream of the requests' table does.
 *
 * @see docs/specification.md WEBHOOK-5
 */
export function createMoveRecorder(context: RecorderContext): MoveRecorder {
  const { requests, webhooks, logger } = context;
  const room = createRoom(context);
  const bound = createChainBound(requests);

  async function countExpired(batch: readonly StreamRecord[]): Promise<void> {
    const counts = new Map<string, number>();
    for (const one of batch) {
      const record = readSafely(logger, readExpiry, one)?.record;
      if (record === undefined) continue;
      const name = `${record.status} ${record.chainName}`;
      counts.set(name, (counts.get(name) ?? 0) - 1);
    }
    if (counts.size > 0) await addCounts(requests, statsKeys.chains, [...(await bound(counts))]);
  }

  return {
    async record(batch) {
      const moves = batch.flatMap((one) => readSafely(logger, readMove, one) ?? []);
      const known = moves.length === 0 ? [] : await webhooks.list();
      const told: string[] = [];
      for (const webhook of known) {
        if ((await writeOutbox(context, room, { moves, webhook })) > 0) told.push(webhook.webhookId);
      }
      if (told.length > 0) await context.wake(told);
      // Last, for it is not to be done again with the rest.
      await countExpired(batch);
    },
  };
}
