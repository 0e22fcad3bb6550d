import type { RequestRecord } from '@prism-gateway/protocol';
import type { SignedAction } from '@prism-gateway/protocol/typed-data';
import type { WaitOptions } from '../requests/waitForRequest.ts';

/** A request that the gateway has stored. */
export interface Submission<A extends SignedAction = SignedAction> {
  readonly requestId: string;
  /** As the gateway answered. */
  readonly record: RequestRecord<A>;
  /** The forwarder nonce that it was signed with. */
  readonly nonce: bigint;
  /** Waits until it has ended. @throws GatewayError WAIT_TIMED_OUT, ABORTED */
  wait(options?: WaitOptions): Promise<RequestRecord>;
}
