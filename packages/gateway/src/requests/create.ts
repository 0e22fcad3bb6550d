import { type CreateRequestBody, INITIAL_STATUS } from '@prism-gateway/protocol';
import type { RequestStore, StoredRequest } from '../ports/requestStore.ts';

export interface CreatePorts {
  readonly requests: RequestStore;
  readonly newId: () => string;
  readonly now: () => number;
}

/**
 * Puts a new request into the queue as `pending`.
 *
 * @returns the record, stored for good
 * @see docs/specification.md CREATE-1
 */
export async function createRequest(ports: CreatePorts, body: CreateRequestBody): Promise<StoredRequest> {
  const now = ports.now();
  const record: StoredRequest = {
    requestId: ports.newId(),
    chainName: body.chainName,
    action: body.action,
    signer: body.params.signer,
    status: INITIAL_STATUS,
    paramsJson: JSON.stringify(body.params),
    createdAt: now,
    updatedAt: now,
  };
  await ports.requests.create(record);
  return record;
}
