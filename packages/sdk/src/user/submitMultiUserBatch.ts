import type { RequestRecord } from '@prism-gateway/protocol';
import { createMultiUserBatchParams, type WriteEntry } from '@prism-gateway/protocol/typed-data';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import type { CallOptions } from '../requests/getRequest.ts';

/** Writes of several users, and who gathers them. */
export interface MultiUserBatch extends CallOptions {
  readonly chainName: string;
  /** Address of whoever queues the batch; nothing is signed in its name. */
  readonly signer: string;
  /** Each signed by its own user: what `signWrite` of a user's client gives. */
  readonly requests: readonly WriteEntry[];
  /** Unix time in seconds; default now. */
  readonly timestamp?: bigint | undefined;
}

/**
 * Queues writes that users have signed each for themselves, as one request.
 *
 * @param gateway - the gateway's client
 * @param batch - see each field
 * @throws GatewayError VALIDATION_FAILED, and what any submission may throw
 * @see docs/specification.md PARAM-12
 */
export async function submitMultiUserBatch(
  gateway: GatewayClient,
  { chainName, signer, requests, timestamp, signal }: MultiUserBatch,
): Promise<RequestRecord<'BATCH_MULTI_USER_WRITE_DATA'>> {
  const seconds = timestamp ?? BigInt(Math.floor(gateway.transport.now() / 1000));
  const params = createMultiUserBatchParams({ signer, timestamp: String(seconds), requests });
  return await gateway.submitRequest({ chainName, action: 'BATCH_MULTI_USER_WRITE_DATA', params }, { signal });
}
