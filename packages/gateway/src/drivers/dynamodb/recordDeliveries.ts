import { createSemaphore } from '@prism-gateway/node';
import type { Logger } from '../../ports/logger.ts';
import { MAX_WAITING } from '../../rules/deliveries.ts';
import { eventOfMove, type MessageFacts } from '../../rules/webhookMessage.ts';
import { countWaiting, createDeliveryItem } from './deliveryItem.ts';
import { put, type Table } from './items.ts';
import { type RequestChange, readChange, type StreamRecord } from './recordStats.ts';
import { countDropped, type RegisteredWebhook, type WebhookRegister } from './webhookRegister.ts';

/** A move of a request, with its place among all moves. */
interface Move extends MessageFacts {
  readonly place: string;
}

/** Where to a request has moved. @returns undefined: it is something else */
function moveOf({ before, after: record, isMove, place }: RequestChange): Move | undefined {
  if (record === undefined || !isMove) return undefined;
  if (before === undefined) return { event: 'request.created', at: record.createdAt, record, place };
  return { event: eventOfMove(record.status), at: record.updatedAt, record, place };
}

/** How long a count of what waits is good for, in milliseconds; what this process adds is counted along. */
const COUNT_MS = 5000;
/** How far the clocks of two processes may be apart, in milliseconds: who moves a request may be another one than who registers. */
const CLOCKS_APART_MS = 60_000;
/** Writes of one batch under way at once. */
const MAX_WRITES = 32;

interface RecorderContext {
  readonly deliveries: Table;
  readonly webhooks: Pick<WebhookRegister, 'list'>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Has webhooks looked at, by their ids. */
  readonly wake: (webhookIds: readonly string[]) => Promise<void>;
  /** Most deliveries that wait for one webhook. */
  readonly maxWaiting?: number;
}

/** Writes what a stream reports into the outbox. */
export interface MoveRecorder {
  /**
   * Takes a batch, which may have come before, whole or in part: each event is stored once.
   *
   * @throws DependencyUnavailableError: it is to come again
   */
  record(batch: readonly StreamRecord[]): Promise<void>;
}

/** Whether a move is one that a webhook was registered for: a stream that is followed late reports earlier ones too. */
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
    const item = createDeliveryItem({ ...move, webhookId, now: Math.min(now(), move.at) });
    if ((await put(deliveries, item, { condition: 'attribute_not_exists(lane)' })).done) room.add(webhookId);
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

/** Makes what the function on the stream of the requests' table does. @see docs/specification.md WEBHOOK-5 */
export function createMoveRecorder(context: RecorderContext): MoveRecorder {
  const { webhooks, logger } = context;
  const room = createRoom(context);
  return {
    async record(batch) {
      const changes = batch.flatMap((one) => readChange(one, logger) ?? []);
      const moves = changes.flatMap((change) => moveOf(change) ?? []);
      const known = moves.length === 0 ? [] : await webhooks.list();
      const woken: string[] = [];
      for (const webhook of known) {
        if ((await writeOutbox(context, room, { moves, webhook })) > 0) woken.push(webhook.webhookId);
      }
      if (woken.length > 0) await context.wake(woken);
    },
  };
}
