import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import type { OpenRequest, Submission } from './openRequest.ts';

/**
 * Makes the call that carries some requests.
 * * @param plan.requests - one, or writes of several users
 * @param plan.forwarder - address of the Forwarder
 * @param plan.relayer - the relayer's address, who queues the batch
 * @param plan.nowMs - Unix time in milliseconds
 */
export function planSubmission(plan: {
  readonly requests: readonly OpenRequest[];
  readonly forwarder: Hex;
  readonly relayer: Hex;
  readonly nowMs: number;
}): Omit<Submission, 'gasLimit' | 'maxFeePerGas' | 'expiresAtMs'> {
  const { requests, forwarder, relayer, nowMs } = plan;
  const [first] = requests;
  if (first === undefined) throw new TypeError('a submission carries at least one request');
  const call = requests.length === 1 ? first.record : gather(requests, { relayer, nowMs });
  const prefix = requests.length === 1 ? '' : `batch-of-${requests.length}:`;
  return {
    // Each attempt is a sending of its own: the one before has left nothing on the chain.
    intentId: `${prefix}${first.requestId}#${first.attempts + 1}`,
    to: forwarder,
    data: encodeForwarderCall(call).data,
    requestIds: requests.map(({ requestId }) => requestId),
  };
}

function gather(requests: readonly OpenRequest[], { relayer, nowMs }: { relayer: Hex; nowMs: number }) {
  const params = createMultiUserBatchParams({
    signer: relayer,
    timestamp: String(Math.floor(nowMs / 1000)),
    // Only writes are gathered.
    requests: requests.map(({ record }) => record.params as ActionParams<'WRITE_DATA_FOR'>),
  });
  return { action: 'BATCH_MULTI_USER_WRITE_DATA', params } as const;
}
