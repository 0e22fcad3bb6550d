import type { RequestRecord } from '@prism-gateway/protocol';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import { isEnded } from '../requests/waitForRequest.ts';

/** Whose requests are looked for, and where. */
export interface RequestSearch {
  readonly gateway: GatewayClient;
  readonly signer: string;
  readonly chainName: string;
  /** Age in seconds past which the Forwarder takes no request any more, so that it holds no nonce. */
  readonly maxAgeSeconds: number;
}

const PAGE_SIZE = 100;
/** Bounds memory and time where strangers post in a signer's name: what lies behind is not seen. */
const MOST_PAGES = 10;

/** Unix time in milliseconds before which a request has to have been made to be too old for the Forwarder. */
function oldestMs({ gateway, maxAgeSeconds }: RequestSearch): number {
  return gateway.transport.now() - maxAgeSeconds * 1000;
}

/** Tells whether a request may hold a nonce here: not one of another chain, nor a batch, whose entries are signed by others. */
export function isOpenHere(search: RequestSearch, record: RequestRecord): boolean {
  return (
    !isEnded(record) &&
    record.chainName === search.chainName &&
    record.action !== 'BATCH_MULTI_USER_WRITE_DATA' &&
    Number(record.params.timestamp) * 1000 >= oldestMs(search)
  );
}

/**
 * Lists a signer's requests, newest first, page by page: back to those that are too old for the Forwarder, or that an earlier
 * walk has seen, and no further than 10 pages.
 *
 * @param walk.sinceMs - Unix time in milliseconds; older ones are known
 * @returns `seen`: all that were looked at by their ids, without the record where it is not open here; `newestMs`: Unix time
 * in milliseconds when the newest was made
 * @throws GatewayError
 */
export async function listRecent(
  search: RequestSearch,
  walk: { readonly sinceMs: number; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly seen: Map<string, RequestRecord | undefined>; readonly newestMs: number }> {
  const { gateway, signer } = search;
  const { signal } = walk;
  const sinceMs = Math.max(walk.sinceMs, oldestMs(search));
  const seen = new Map<string, RequestRecord | undefined>();
  let [pagesLeft, newestMs] = [MOST_PAGES, walk.sinceMs];
  for await (const { items } of gateway.listRequests({ signer, order: 'desc', limit: PAGE_SIZE }, { signal }).pages()) {
    let madeAtMs = Infinity;
    for (const record of items) {
      madeAtMs = Date.parse(record.createdAt);
      newestMs = Math.max(newestMs, madeAtMs);
      seen.set(record.requestId, isOpenHere(search, record) ? record : undefined);
    }
    if (madeAtMs < sinceMs || --pagesLeft === 0) break;
  }
  return { seen, newestMs };
}
