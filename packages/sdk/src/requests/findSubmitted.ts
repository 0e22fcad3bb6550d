import type { CreateRequestBody, RequestRecord } from '@prism-gateway/protocol';
import type { Transport } from '../http/createTransport.ts';
import type { CallOptions } from './getRequest.ts';
import { listRequests } from './listRequests.ts';

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

/** Tells whether a record holds what was signed, to the last param: a signature's bytes alone anybody can copy. */
export function holdsSame(record: RequestRecord, body: CreateRequestBody): boolean {
  return writeCanonical(record) === writeCanonical(body);
}

/**
 * Looks among the signer's newest requests for one with this very content, signature included: the same request, already stored.
 *
 * @returns the newest such record; undefined where there is none among the last 300
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
