import type { RequestRecord } from '@prism-gateway/protocol';
import type { Transport } from '../http/createTransport.ts';
import { readRecord } from './readRecord.ts';

/** What any single call may be given. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a request.
 *
 * @param requestId - UUID
 * @throws GatewayError NOT_FOUND, VALIDATION_FAILED, and what any call may throw
 * @see docs/specification.md READ-1
 */
export async function getRequest(
  transport: Transport,
  { requestId, signal }: { readonly requestId: string } & CallOptions,
): Promise<RequestRecord> {
  const path = `/requests/${encodeURIComponent(requestId)}`;
  return readRecord(`GET ${path}`, await transport.call({ method: 'GET', path, repeat: 'freely', signal }));
}
