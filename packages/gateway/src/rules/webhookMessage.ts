import { createHash } from 'node:crypto';
import type { RequestStatus } from '@prism-gateway/protocol';
import type { WebhookEvent } from '@prism-gateway/protocol/webhooks';
import type { StoredRequest } from '../ports/requestStore.ts';

/** Bytes of a message id: no two events of all receivers share one, not even after a backup was brought back. */
const MESSAGE_ID_BYTES = 16;

/** A move of a request, as a receiver gets it. */
export interface MessageFacts {
  readonly event: WebhookEvent;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly record: Omit<StoredRequest, 'paramsJson'>;
}

const timeOf = (ms: number) => new Date(ms).toISOString();

const EVENTS: Readonly<Record<RequestStatus, WebhookEvent>> = {
  processing: 'request.claimed',
  pending: 'request.released',
  success: 'request.succeeded',
  failed: 'request.failed',
};

/** Names the event of a move to a status. */
export const eventOfMove = (status: RequestStatus): WebhookEvent => EVENTS[status];

/**
 * Makes the id of an event.
 *
 * @param facts - what no two events share together
 */
export function messageIdOf(facts: readonly unknown[]): string {
  const hash = createHash('sha256').update(facts.join(' ')).digest();
  return `msg_${hash.subarray(0, MESSAGE_ID_BYTES).toString('hex')}`;
}

/**
 * Writes what is sent: the same bytes at each attempt.
 *
 * @see docs/specification.md WEBHOOK-4
 */
export function writeMessageBody({ event, at, record }: MessageFacts): string {
  const { requestId, chainName, action, signer, status, createdAt, updatedAt } = record;
  const { txHash, errorMessage, claimedBy, claimedAt } = record;
  const data = {
    ...{ requestId, chainName, action, signer, status },
    ...{ createdAt: timeOf(createdAt), updatedAt: timeOf(updatedAt) },
    ...(txHash !== undefined && { txHash }),
    ...(errorMessage !== undefined && { errorMessage }),
    ...(claimedBy !== undefined && { claimedBy, claimedAt: timeOf(claimedAt ?? updatedAt) }),
  };
  return JSON.stringify({ type: event, timestamp: timeOf(at), data });
}
