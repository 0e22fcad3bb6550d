import type { CreateRequestBody, RequestRecord } from '@prism-gateway/protocol';
import { GatewayError } from '../errors/gatewayError.ts';
import { unexpectedAnswer } from '../errors/unexpectedAnswer.ts';
import type { GatewayCall, Transport } from '../http/createTransport.ts';
import { isTransient, withRetries } from '../http/withRetries.ts';
import { findSubmitted, holdsSame } from './findSubmitted.ts';
import type { CallOptions } from './getRequest.ts';
import { readRecord } from './readRecord.ts';

/**
 * With `once` a gateway takes the same signature a single time. One that knows the specification alone ignores it, and stores twice
 * what is sent twice: so each repeat here is looked before.
 */
async function postRequest(
  transport: Transport,
  { body, signal }: { readonly body: CreateRequestBody } & CallOptions,
): Promise<RequestRecord> {
  const call = { method: 'POST', path: '/requests', body, repeat: 'ifUnsent', signal } as const;
  const post = async (query?: GatewayCall['query']) =>
    readRecord('POST /requests', await transport.call({ ...call, query }));
  const known = await post({ once: 'true' });
  if (holdsSame(known, body)) return known;
  // Somebody was first with this signature under other params, which then have none: the true request is still to be stored.
  const record = await post();
  if (holdsSame(record, body)) return record;
  throw unexpectedAnswer('POST /requests', 'record of what was sent');
}

/**
 * Puts a signed request into the gateway's queue, once: where an answer was lost, the signer's requests are looked through for
 * it before it is sent again.
 *
 * @param transport - the way to the gateway
 * @param submission.body - what `createSignedParams` made, with its action and chain
 * @returns the record, `pending`; or as it is by now, where it had been stored and its answer was lost
 * @throws GatewayError VALIDATION_FAILED, RATE_LIMITED, UNAVAILABLE, NETWORK_FAILED, ABORTED; with `mayHaveHappened` the
 * request may be stored all the same: `findRequest` tells
 * @see docs/specification.md CREATE-1
 */
export async function submitRequest(
  transport: Transport,
  submission: { readonly body: CreateRequestBody } & CallOptions,
): Promise<RequestRecord> {
  const { signal } = submission;
  let mayBeStored = false;
  // The call itself has repeated what was surely not done.
  const canRepeat = (error: GatewayError) => mayBeStored && isTransient(error);
  return await withRetries(transport, { what: 'POST /requests', signal, canRepeat }, async () => {
    const stored = mayBeStored ? await findSubmitted(transport, submission) : undefined;
    if (stored !== undefined) return stored;
    try {
      return await postRequest(transport, submission);
    } catch (error) {
      mayBeStored ||= error instanceof GatewayError && error.mayHaveHappened;
      throw error;
    }
  });
}
