import type { CreateRequestBody, RequestRecord } from '@prism-gateway/protocol';
import { GatewayError, unexpectedAnswer } from '../errors/gatewayError.ts';
import type { Transport } from '../http/createTransport.ts';
import { isTransient, withRetries } from '../http/withRetries.ts';
import { type CallOptions, readRecord } from './getRequest.ts';
import { listRequests } from './listRequests.ts';

/**
 * With `once` a gateway takes the same submission a single time. One that knows the specification alone ignores it, and stores twice
 * what is sent twice: so each repeat here is looked before.
 */
async function postRequest(
  transport: Transport,
  { body, signal }: { readonly body: CreateRequestBody } & CallOptions,
): Promise<RequestRecord> {
  const call = {
    method: 'POST',
    path: '/requests',
    query: { once: 'true' },
    body,
    repeat: 'ifUnsent',
    signal,
  } as const;
  const record = readRecord('POST /requests', await transport.call(call));
  if (holdsSame(record, body)) return record;
  throw unexpectedAnswer('POST /requests', 'record of what was sent');
}

/**
 * Puts a signed request into the gateway's queue, once: if an answer was lost, the signer's requests are looked through for
 * it before it is sent again.
 *
 * @param transport - the way to the gateway
 * @param submission.body - what `createSignedParams` made, with its action and chain
 * @returns the record, `pending`; or as it is by now, if it had been stored and its answer was lost
 * @throws GatewayError VALIDATION_FAILED, RATE_LIMITED, UNAVAILABLE, NETWORK_FAILED, ABORTED; with `mayHaveHappened` the
 * request may be stored all the same: `findRequest` shows it
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

/** How many of a signer's newest requests are looked through: what may have come in since an answer was lost. */
const PAGES = 3;
const PAGE_SIZE = 100;

/** Writes what was signed as JSON whose keys stand in one order, to compare by without regard to letter case. */
function writeCanonical({ chainName, action, params }: CreateRequestBody | RequestRecord): string {
  return JSON.stringify([chainName, action, params], (_, inner: unknown) =>
    Object(inner) === inner && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner as object).sort())
      : inner,
  ).toLowerCase();
}

/** Whether a record holds what was signed, to the last param: a signature's bytes alone anybody can copy. */
function holdsSame(record: RequestRecord, body: CreateRequestBody): boolean {
  return writeCanonical(record) === writeCanonical(body);
}

/**
 * Looks among the signer's newest requests for one with this very content, signature included: the same request, already stored.
 *
 * @returns the newest such record; undefined if there is none among the last 300
 * @throws GatewayError
 */
export async function findSubmitted(
  transport: Transport,
  { body, signal }: { readonly body: CreateRequestBody } & CallOptions,
): Promise<RequestRecord | undefined> {
  const { signer } = body.params;
  const list = listRequests(transport, { signer, order: 'desc', limit: PAGE_SIZE, signal });
  let pagesLeft = PAGES;
  for await (const { items } of list.pages()) {
    const found = items.find((record) => holdsSame(record, body));
    if (found !== undefined || --pagesLeft === 0) return found;
  }
  return undefined;
}
