import type { RequestExecuted } from '@prism-gateway/contracts';
import type { RequestRecord } from '@prism-gateway/protocol';
import type { TransactionReceipt } from 'viem';
import type { Submitted } from '../users/submitted.ts';

/** What became of one request: what the gateway says, and what the chain says. */
export interface Execution {
  readonly submitted: Submitted;
  /** Undefined where the gateway does not know it. */
  readonly record: RequestRecord | undefined;
  /** Of the transaction that the relayer has reported. */
  readonly receipt: TransactionReceipt | undefined;
  /** The Forwarder's events of this request's signatures. */
  readonly events: readonly RequestExecuted[];
  /** Requests that the transaction carried; each has used its part of the gas. */
  readonly carried: number;
  /** In gas units, its part. */
  readonly gas: bigint;
}
