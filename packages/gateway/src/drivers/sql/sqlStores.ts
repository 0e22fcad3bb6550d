import type { AdminStore } from '../../ports/adminStore.ts';
import type { RelayerStore } from '../../ports/relayerStore.ts';
import type { RequestChanges } from '../../ports/requestChanges.ts';
import type { RequestStore } from '../../ports/requestStore.ts';
import type { DeliveryQueue, WebhookStore } from '../../ports/webhookStore.ts';
import type { SharedRateLimitStore } from './createSharedRateLimits.ts';

/** All stores of one database of SQL. */
export interface SqlStores {
  readonly requests: RequestStore;
  readonly changes: RequestChanges;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: SharedRateLimitStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryQueue;
  /** @throws DependencyUnavailableError */
  checkReady(): Promise<void>;
  /** Finishes every write under way, and closes what is open. */
  close(): Promise<void>;
}
