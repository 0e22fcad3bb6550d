import type { RequestRecord } from '@prism-gateway/protocol';
import { GatewayError, type RelayerClient } from '@prism-gateway/sdk';
import type { Ended } from '../lifecycle/openRequest.ts';

/** A page of the feed. */
export interface FeedPage {
  readonly items: readonly RequestRecord[];
  /** Where the next page begins. */
  readonly cursor: string;
}

/** What the feed gives beside them are claims that have lapsed: they are taken over by a setting of their own (RELAY-9). */
export function pendingOf(items: readonly RequestRecord[]): RequestRecord[] {
  return items.filter(({ status }) => status === 'pending');
}

/** Where a page of the feed begins: behind a cursor, from the oldest on, or from now on. */
interface FeedPlace {
  readonly cursor?: string | undefined;
  readonly from?: 'now' | undefined;
  /** How long the gateway may wait for something new, in seconds. */
  readonly wait: number;
}

/** What became of a batch. */
interface BatchAnswer {
  /** Those that were not moved. */
  readonly conflicts: readonly { readonly requestId: string; readonly status?: string | undefined }[];
}

/** The gateway's calls beyond the specification of single requests that a relayer makes, for one chain. */
export interface QueueCalls {
  /** @throws GatewayError */
  feed(place: FeedPlace): Promise<FeedPage>;
  /** @throws GatewayError */
  claim(requestIds: readonly string[]): Promise<BatchAnswer>;
  /** @throws GatewayError */
  report(ended: readonly Ended[]): Promise<BatchAnswer>;
}

/** What a server answers that does not know a path, or a method of it. */
const UNKNOWN_ROUTE = [404, 405, 501];

/** Whether a gateway does not know a call: it has the specification's alone. @param error - what the call has thrown */
export function isAbsent(error: unknown): boolean {
  return error instanceof GatewayError && UNKNOWN_ROUTE.includes(error.status ?? 0);
}

/** Makes the calls of one chain. */
export function createQueueCalls(options: {
  readonly client: Pick<RelayerClient, 'readFeed' | 'claimRequests' | 'reportRequests'>;
  readonly chainName: string;
  readonly signal: AbortSignal;
}): QueueCalls {
  const { client, chainName, signal } = options;
  return {
    feed: (place) => client.readFeed({ chainName, ...place, signal }),
    claim: (requestIds) => client.claimRequests({ requestIds }, { signal }),
    report: (ended) =>
      client.reportRequests(
        ended.map(({ requestId, outcome }) => ({ requestId, ...outcome })),
        { signal },
      ),
  };
}
