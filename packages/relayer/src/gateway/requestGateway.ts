import type { RequestRecord } from '@prism-gateway/protocol';
import type { Ended } from '../lifecycle/openRequest.ts';

/** What came of asking for a claim; `unknown`: there was no answer, and the gateway has to be asked whose it is. */
export type ClaimResult = 'won' | 'conflict' | 'refused' | 'unknown';

/** What came of a report; `lost`: the claim is no longer this relayer's; `unknown`: there was no answer, and it is to be repeated. */
export type ReportResult = 'reported' | 'lost' | 'unknown';

/** What came of giving a request back; `absent`: the gateway knows the specification alone. */
export type ReleaseResult = 'released' | 'lost' | 'unknown' | 'absent';

/** What the life of requests needs of a gateway, in whatever form its calls go over the wire. */
export interface RequestGateway {
  /** Claims requests. @returns a result for each */
  claim(requestIds: readonly string[]): Promise<ReadonlyMap<string, ClaimResult>>;
  /** Reports outcomes. @returns a result for each @throws GatewayError `VALIDATION_FAILED` for what no gateway takes */
  report(ended: readonly Ended[]): Promise<ReadonlyMap<string, ReportResult>>;
  /** Gives a claimed request back, so that another relayer may take it at once. */
  release(requestId: string): Promise<ReleaseResult>;
  /** Reads a request. @returns undefined where there is none @throws GatewayError */
  read(requestId: string): Promise<RequestRecord | undefined>;
  /** Pages of all requests of the chain that are claimed, by whomever. @throws GatewayError */
  processing(): AsyncIterable<readonly RequestRecord[]>;
  /** The newest requests of a signer on the chain, at most 100, in whatever state. @throws GatewayError */
  newestOf(signer: string): Promise<readonly RequestRecord[]>;
}
