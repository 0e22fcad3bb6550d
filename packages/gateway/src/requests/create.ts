import { type CreateRequestBody, INITIAL_STATUS } from '@prism-gateway/protocol';
import type { Creation, RequestStore, StoredRequest } from '../ports/requestStore.ts';
import { signatureKeyOf } from '../ports/signatureKey.ts';

export interface CreatePorts {
  readonly requests: RequestStore;
  readonly newId: () => string;
  readonly now: () => number;
}

/** What became of a submission: stored now, or there already under the same signature. */
export interface Submitted {
  readonly outcome: Creation['outcome'];
  readonly record: StoredRequest;
}

/**
 * Puts a new request into the queue as `pending`, unless it is to be taken once and is there.
 *
 * @param submission.once - whether a record that carries the same signature is the answer instead
 * @returns the record, stored for good
 * @see docs/specification.md CREATE-1, ONCE-1
 */
export async function createRequest(
  ports: CreatePorts,
  { body, once }: { readonly body: CreateRequestBody; readonly once: boolean },
): Promise<Submitted> {
  const now = ports.now();
  const { chainName, params } = body;
  const record: StoredRequest = {
    requestId: ports.newId(),
    chainName,
    action: body.action,
    signer: params.signer,
    status: INITIAL_STATUS,
    paramsJson: JSON.stringify(params),
    createdAt: now,
    updatedAt: now,
  };
  const signatureKey = signatureKeyOf({ chainName, signer: params.signer, params });
  const submission = signatureKey === undefined ? undefined : { signatureKey, once };
  return { record, ...(await ports.requests.create(record, submission)) };
}
