import type { RequestRecord } from '@prism-gateway/protocol';
import { type ForwarderLocation, recoverRequestSigner, type SignedAction } from '@prism-gateway/protocol/typed-data';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import { isEnded } from '../requests/waitForRequest.ts';

/** Whose open requests are looked for, and where. */
export interface OpenSearch {
  readonly gateway: GatewayClient;
  readonly signer: string;
  readonly chainName: string;
  readonly domain: ForwarderLocation;
  /** Age in seconds past which the Forwarder takes no request any more, so that it holds no nonce. */
  readonly maxAgeSeconds: number;
  readonly signal?: AbortSignal | undefined;
}

const PAGE_SIZE = 100;
/** Bounds the walk for a signer that never stops. */
const MAX_PAGES = 10;

/** What the gateway knows of a signer's requests. */
export interface OpenRequests {
  /** Those that may still run, oldest first. */
  readonly open: readonly RequestRecord[];
  /** Ids of all that were looked at, ended ones too. */
  readonly seen: ReadonlySet<string>;
}

/** Lists a signer's open requests. Newest pages are walked back until one has none that is open. */
export async function listOpenRequests(search: OpenSearch): Promise<OpenRequests> {
  const { gateway, signer, chainName, maxAgeSeconds, signal } = search;
  const oldest = gateway.transport.now() / 1000 - maxAgeSeconds;
  const open: RequestRecord[] = [];
  const seen = new Set<string>();
  let pagesLeft = MAX_PAGES;
  for await (const { items } of gateway.listRequests({ signer, order: 'desc', limit: PAGE_SIZE }, { signal }).pages()) {
    for (const { requestId } of items) seen.add(requestId);
    const unended = items.filter((record) => !isEnded(record));
    // Of other chains, and of batches whose entries have signatures of their own, no nonce here is held.
    const counted = unended.filter(
      (record) => record.chainName === chainName && record.action !== 'BATCH_MULTI_USER_WRITE_DATA',
    );
    open.push(...counted.filter(({ params }) => Number(params.timestamp) >= oldest));
    if (unended.length === 0 || --pagesLeft === 0) break;
  }
  return { open: open.reverse(), seen };
}

async function isSignedWith(search: OpenSearch, record: RequestRecord, nonce: bigint): Promise<boolean> {
  // Multi-user batches have been left out.
  const action = record.action as SignedAction;
  // The record's params are its action's, as they were submitted.
  const params = record.params as Parameters<typeof recoverRequestSigner>[0]['params'];
  try {
    const recovered = await recoverRequestSigner({ ...search.domain, action, params, nonce });
    return recovered.toLowerCase() === search.signer.toLowerCase();
  } catch {
    // No key can have made this signature over this nonce.
    return false;
  }
}

/**
 * Finds which nonce each open request was signed with: a record does not say, but of all nonces only the right one recovers to
 * its signer. Of a contract wallet's signatures none does; those are taken to be in order.
 *
 * @param search - as above
 * @param chain.nonce - the signer's forwarder nonce on the chain
 * @param chain.known - nonce of a request, where it is known already
 * @returns request ids by nonce, none below the chain's
 */
export async function matchNonces(
  search: OpenSearch,
  chain: {
    readonly nonce: bigint;
    readonly open: readonly RequestRecord[];
    readonly known: (requestId: string) => bigint | undefined;
  },
): Promise<Map<bigint, string>> {
  const found = new Map<bigint, string>();
  const unmatched: string[] = [];
  for (const record of chain.open) {
    const nonce = chain.known(record.requestId) ?? (await findNonce(search, record, chain));
    if (nonce !== undefined && nonce >= chain.nonce) found.set(nonce, record.requestId);
    else if (nonce === undefined) unmatched.push(record.requestId);
  }
  let next = chain.nonce;
  for (const requestId of unmatched) {
    while (found.has(next)) next++;
    found.set(next, requestId);
  }
  return found;
}

/** Looks from the chain's nonce on, as far as all open requests together can reach. */
async function findNonce(
  search: OpenSearch,
  record: RequestRecord,
  { nonce, open }: { readonly nonce: bigint; readonly open: readonly RequestRecord[] },
): Promise<bigint | undefined> {
  // In order is the usual case: a request's place among the open ones is tried first.
  const place = BigInt(open.indexOf(record));
  if (await isSignedWith(search, record, nonce + place)) return nonce + place;
  for (let offset = 0n; offset < BigInt(open.length); offset++) {
    if (offset !== place && (await isSignedWith(search, record, nonce + offset))) return nonce + offset;
  }
  return undefined;
}
