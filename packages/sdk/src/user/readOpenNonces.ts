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
  /** How the signer signs: with a key, or as a contract wallet does. */
  readonly signatures: 'ecdsa' | 'erc1271';
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

/** Looks from the chain's nonce on, as far as all open requests together can reach. */
async function findNonce(
  search: OpenSearch,
  record: RequestRecord,
  { nonce, open }: Pick<ChainState, 'nonce' | 'open'>,
): Promise<bigint | undefined> {
  // In order is the usual case: a request's place among the open ones is tried first.
  const place = nonce + BigInt(open.indexOf(record));
  if (await isSignedWith(search, record, place)) return place;
  for (let tried = nonce; tried < nonce + BigInt(open.length); tried++) {
    if (await isSignedWith(search, record, tried)) return tried;
  }
  return undefined;
}

/** What is known of a signer's nonces. */
export interface ChainState {
  /** The signer's forwarder nonce on the chain. */
  readonly nonce: bigint;
  /** Open requests, oldest first. */
  readonly open: readonly RequestRecord[];
  /** The nonce of a request, where it is known already. */
  readonly known: (requestId: string) => bigint | undefined;
}

/**
 * Finds which nonce each open request was signed with: a record does not say, but of all nonces only the right one recovers to
 * its signer. One that none recovers has run on the chain, and is yet to be reported: it holds no nonce.
 *
 * A contract wallet's signatures recover to nobody: its requests are taken to be in order.
 *
 * @returns request ids by nonce, none below the chain's
 */
export async function matchNonces(search: OpenSearch, state: ChainState): Promise<Map<bigint, string>> {
  const found = new Map<bigint, string>();
  let next = state.nonce;
  for (const record of state.open) {
    const { requestId } = record;
    const inOrder = search.signatures === 'erc1271' ? next : undefined;
    const nonce = state.known(requestId) ?? inOrder ?? (await findNonce(search, record, state));
    if (nonce !== undefined && nonce >= state.nonce) found.set(nonce, requestId);
    while (found.has(next)) next++;
  }
  return found;
}
