import type { RequestRecord } from '@prism-gateway/protocol';
import type { Ended } from '../lifecycle/states.ts';

/** The result of a claim; `unknown`: there was no answer, and the gateway has to be asked whose it is. */
export type ClaimResult = 'won' | 'conflict' | 'refused' | 'unknown';

/** The result of a report; `lost`: the claim is no longer this relayer's; `unknown`: there was no answer, and it is to be repeated. */
export type ReportResult = 'reported' | 'lost' | 'unknown';

/** The result of giving a request back; `absent`: the gateway knows the specification alone. */
export type ReleaseResult = 'released' | 'lost' | 'unknown' | 'absent';

/** The gateway as the life of requests needs it, in whatever form its calls go over the wire. */
export interface RequestGateway {
  /** Claims requests. @returns a result for each */
  claim(requestIds: readonly string[]): Promise<ReadonlyMap<string, ClaimResult>>;
  /** Reports outcomes. @returns a result for each @throws GatewayError `VALIDATION_FAILED` for what no gateway takes */
  report(ended: readonly Ended[]): Promise<ReadonlyMap<string, ReportResult>>;
  /** Gives a claimed request back, so that another relayer may take it at once. */
  release(requestId: string): Promise<ReleaseResult>;
  /** Whether claims may lapse: not at a gateway that has answered a release as one that knows the specification alone. */
  hasLeases(): boolean;
  /** Reads a request. @returns undefined if there is none @throws GatewayError */
  read(requestId: string): Promise<RequestRecord | undefined>;
  /** Pages of all requests of the chain that are claimed, by whomever. @throws GatewayError */
  processing(): AsyncIterable<readonly RequestRecord[]>;
  /** The newest requests of a signer on the chain, at most 100, in whatever state. @throws GatewayError */
  newestOf(signer: string): Promise<readonly RequestRecord[]>;
}

/** A page of the feed. */
export interface FeedPage {
  readonly items: readonly RequestRecord[];
  /** Where the next page begins. */
  readonly cursor: string;
  /** When to ask again, in milliseconds: if the gateway lets no call wait, and there was nothing. */
  readonly askAgainMs?: number | undefined;
}

/** Where a page of the feed begins: behind a cursor, from the oldest on, or from now on. */
interface FeedPlace {
  readonly cursor?: string | undefined;
  readonly from?: 'now' | undefined;
  /** How long the gateway may wait for something new, in seconds. */
  readonly wait: number;
}

/** The result of a batch. */
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
