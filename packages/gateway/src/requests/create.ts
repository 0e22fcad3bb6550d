import { type CreateRequestBody, INITIAL_STATUS } from '@prism-gateway/protocol';
import type { Creation, RequestStore, StoredRequest } from '../ports/requestStore.ts';
import { submissionKeyOf } from '../rules/submissionKey.ts';

export interface CreatePorts {
  readonly requests: RequestStore;
  readonly newId: () => string;
  readonly now: () => number;
}

/** The result of a submission: stored now, or there already. */
export interface Submitted {
  readonly outcome: Creation['outcome'];
  readonly record: StoredRequest;
}

/**
 * Puts a new request into the queue as `pending`, unless it is to be taken once and is there.
 *
 * @param submission.holders - whose pending bytes it counts among
 * @param submission.once - whether a record of the same submission that has not failed is the answer instead
 * @returns the record, stored for good
 * @see docs/specification.md CREATE-1, ONCE-1
 */
export async function createRequest(
  ports: CreatePorts,
  {
    body,
    once,
    holders,
  }: { readonly body: CreateRequestBody; readonly once: boolean; readonly holders?: readonly string[] },
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
  const submission = { key: submissionKeyOf(body), once, ...(holders && { holders }) };
  return { record, ...(await ports.requests.create(record, submission)) };
}
