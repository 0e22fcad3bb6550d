import type { Candidate } from '../lifecycle/createCandidates.ts';

/** What the relayer looks at: the pending requests of one chain, in whatever way the gateway shows them. */
export interface PendingQueue {
  /**
   * Looks for what is new, and remembers it.
   *
   * @param wanted - how many requests there is room for
   * @returns what may be judged or claimed now
   * @throws GatewayError
   */
  look(wanted: number): Promise<readonly Candidate[]>;
  /**
   * Looks again at requests that are about to be claimed, if others may have claimed them since.
   *
   * @returns those that are still pending, as far as can be seen
   * @throws GatewayError
   */
  dropClaimed<T extends Candidate>(claimable: readonly T[]): Promise<readonly T[]>;
  /** Resolves as soon as there is something that no look has shown: at once where there is; never where the queue cannot tell. */
  news(): Promise<void>;
  /** Whether there is more to be looked at now, without a pause. */
  hasMore(): boolean;
}
