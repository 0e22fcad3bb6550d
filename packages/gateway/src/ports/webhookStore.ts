import type { DeliveryStatus, WebhookEvent } from '@prism-gateway/protocol/webhooks';
import type { Awaitable } from './awaitable.ts';

/** Where events are posted to. Times are milliseconds since the epoch. */
export interface WebhookRecord {
  /** 32 hex digits. */
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** The only chain, and the only signer, that it gets; absent: any. Signers are compared without regard to case. */
  readonly chainName?: string;
  readonly signer?: string;
  readonly label?: string;
  readonly enabled: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Signs deliveries: the newest one, and for a day after a rotation the one before. Never shown by the API. */
  readonly secrets: readonly WebhookSecret[];
  /** How its deliveries go; a store that does not deliver knows nothing of it. */
  readonly health: WebhookHealth;
}

export interface WebhookSecret {
  /** `whsec_` and base64. */
  readonly secret: string;
  /** From when on it does not sign any more; absent: it is the newest one. */
  readonly expiresAt?: number;
}

/** How deliveries go. */
export interface WebhookHealth {
  /** Deliveries that wait to be sent, now or again. */
  readonly waiting: number;
  /** Events that found no room among those that wait, and are lost. */
  readonly dropped: number;
  readonly droppedAt?: number;
  readonly deliveredAt?: number;
  /** Since when nothing has been delivered although it was tried. */
  readonly failingSince?: number;
  /** When it was disabled by itself, and why. */
  readonly disabledAt?: number;
  readonly disabledReason?: string;
}

/** An administrator's settings of a webhook. */
export type WebhookTarget = Pick<WebhookRecord, 'url' | 'events' | 'chainName' | 'signer' | 'label' | 'enabled'>;

export interface NewWebhook extends WebhookTarget {
  readonly webhookId: string;
  readonly secret: string;
  readonly now: number;
}

/** One event on its way to one receiver. */
export interface DeliveryRecord {
  readonly deliveryId: string;
  readonly messageId: string;
  readonly requestId: string;
  readonly event: WebhookEvent;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly createdAt: number;
  /** Absent while an earlier one of the same request waits. */
  readonly nextAttemptAt?: number;
  readonly endedAt?: number;
  /** The receiver's answer to the last attempt, or why there was none. */
  readonly lastStatus?: number;
  readonly lastError?: string;
}

export interface DeliveryQuery {
  readonly webhookId: string;
  readonly status?: DeliveryStatus | undefined;
  /** Only those of this request, in lower case. */
  readonly requestId?: string | undefined;
  readonly limit: number;
  /** `deliveryId` of the last one of the page before. */
  readonly after?: string | undefined;
}

/** Most webhooks of a deployment: each costs a look at every event. */
export const MAX_WEBHOOKS = 20;

/** How long the secret before signs beside a new one, in milliseconds. */
export const ROTATION_MS = 86_400_000;

/** Port: the webhooks of a deployment. Throws `DependencyUnavailableError` only. */
export interface WebhookStore {
  /** @returns undefined: there are `MAX_WEBHOOKS` already */
  add(webhook: NewWebhook): Promise<WebhookRecord | undefined>;
  /** All, oldest first. */
  list(): Promise<readonly WebhookRecord[]>;
  find(webhookId: string): Promise<WebhookRecord | undefined>;
  /** Replaces what an administrator sets; to enable it forgets that it was failing. @returns undefined: there is none */
  change(change: {
    readonly webhookId: string;
    readonly target: WebhookTarget;
    readonly now: number;
  }): Promise<WebhookRecord | undefined>;
  /** Adds a secret; the one before signs for a day more. @returns undefined: there is none */
  rotate(rotation: {
    readonly webhookId: string;
    readonly secret: string;
    readonly now: number;
  }): Promise<WebhookRecord | undefined>;
  /** Removes it with all that waits for it. @returns whether there was one */
  remove(webhookId: string): Promise<boolean>;
  /** Newest first. @returns undefined: this store does not know of deliveries */
  listDeliveries(query: DeliveryQuery): Promise<readonly DeliveryRecord[] | undefined>;
  /** Sends an ended delivery once more. @returns `waiting`: it is not ended */
  resend(order: {
    readonly webhookId: string;
    readonly deliveryId: string;
    readonly now: number;
  }): Promise<DeliveryRecord | 'missing' | 'waiting'>;
}

/** A delivery to make now. */
export interface TakenDelivery {
  readonly deliveryId: string;
  readonly messageId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly secrets: readonly WebhookSecret[];
  /** The body, as it is signed and sent. */
  readonly body: string;
  readonly attempts: number;
}

/** The result of an attempt. `returned`: it was not made, and somebody else may make it at once. */
export interface DeliveryOutcome {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly outcome: 'delivered' | 'refused' | 'returned';
  /** The answer's status; absent: there was none. */
  readonly status?: number;
  /** One sentence; absent if it was delivered. */
  readonly error?: string;
}

/** What a webhook's operator should know. */
export interface WebhookNotice {
  readonly webhookId: string;
  readonly kind: 'failing' | 'recovered' | 'disabled' | 'given up';
  readonly why?: string;
}

/** An order for deliveries to make. */
export interface DeliveryOrder {
  readonly now: number;
  /** How long they are nobody else's, in milliseconds. */
  readonly holdMs: number;
  /** Most deliveries under way to one webhook. */
  readonly perWebhook: number;
  /** How many this process has under way, by webhook. */
  readonly underWay: Readonly<Record<string, number>>;
}

/** Port: the deliveries that wait, written in the commits of the moves that they report. */
export interface DeliveryQueue {
  /**
   * When the next delivery is due, in milliseconds since the epoch; undefined: none is. It reads, and writes nothing.
   *
   * @param now - in milliseconds since the epoch
   * @param except - webhooks that take none now, by id
   */
  nextDueAt(now: number, except?: readonly string[]): Awaitable<number | undefined>;
  /** How many events have found no room, of all webhooks that are there. */
  countDropped(): Awaitable<number>;
  /** Takes due deliveries, of one request never one before the one before it has ended; of a webhook that fails one, to try it. */
  take(order: DeliveryOrder): Promise<readonly TakenDelivery[]>;
  /** Writes what came of attempts. */
  finalize(order: {
    readonly now: number;
    readonly outcomes: readonly DeliveryOutcome[];
  }): Promise<readonly WebhookNotice[]>;
  /** Calls back, with how many requests have moved, after each commit of this process that may have added deliveries; nobody else's are counted. */
  onCommitted(listener: (moves: number) => void): void;
}
