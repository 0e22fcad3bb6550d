import { type ListAllRequestsQuery, REQUEST_MOVES, type RequestStatus } from '@prism-gateway/protocol';
import type { AdminStore } from '../ports/adminStore.ts';
import { InvalidCursorError } from '../ports/errors.ts';
import type { ListPage, RequestFilter, RequestStore, StoredRequest, Transition } from '../ports/requestStore.ts';
import type { CursorCodec } from './createCursorCodec.ts';
import { RequestConflictError, RequestNotClaimedError, RequestNotFoundError } from './errors.ts';
import type { RequestsPage } from './list.ts';

export interface AdministerPorts {
  readonly requests: RequestStore;
  readonly admin: AdminStore;
  readonly cursors: CursorCodec;
  readonly newId: () => string;
  readonly now: () => number;
}

/** As in the public list. */
const MAX_PARAMS_BYTES = 1_000_000;
/** Most pages of the store that one answer looks through for a relayer's requests. */
const MAX_LOOKS = 10;
/** A request that changes hands between the look and the move is looked at again, so often. */
const MAX_TRIES = 5;

/** Where all requests are listed, they come by status: those that somebody waits for first. */
const statusOrder = ['processing', 'pending', 'failed', 'success'] as const satisfies readonly RequestStatus[];

/** A place in the walk: which list, and the store's position in it. */
interface ListPosition {
  readonly list: number;
  readonly after?: string | undefined;
}

/** What is looked through the lists for. */
type Wanted = Pick<ListAllRequestsQuery, 'relayer' | 'txHash'>;

/** Whose requests a cursor is for: it is good for the same list alone. */
const markOf = ({ relayer = '*', txHash = '' }: Wanted) => `${relayer}${txHash}`.toLowerCase();

function readPlace(position: string, wanted: Wanted): ListPosition {
  const [, list = '', mark, after = ''] = /^(\d) (\S+) (.*)$/s.exec(position) ?? [];
  if (list === '' || mark !== markOf(wanted)) throw new InvalidCursorError();
  return { list: Number(list), after: after || undefined };
}

const writePlace = ({ list, after = '' }: ListPosition, wanted: Wanted) => `${list} ${markOf(wanted)} ${after}`;

/** The lists to walk one after another: one, where there is a filter that an index answers. */
function chooseLists({ signer, status, chainName, relayer, txHash }: ListAllRequestsQuery): readonly RequestFilter[] {
  const filter = {
    ...(signer !== undefined && { signer }),
    ...(status !== undefined && { status }),
    ...(chainName !== undefined && { chainName }),
    ...(txHash !== undefined && { txHash }),
  };
  if (Object.keys(filter).length > 0) return [filter];
  // Nobody holds or held what is pending.
  return statusOrder.filter((one) => relayer === undefined || one !== 'pending').map((one) => ({ status: one }));
}

const isWanted =
  ({ relayer }: Wanted) =>
  (record: StoredRequest) =>
    relayer === undefined || record.claimedBy?.toLowerCase() === relayer.toLowerCase();

/**
 * Lists requests for an administrator: with the filters of the public list, with the relayer's and the transaction's, or all, by status.
 *
 * @throws InvalidCursorError for a `lastKey` of another list
 * @see docs/specification.md ADMIN-4
 */
export async function listAllRequests(ports: AdministerPorts, query: ListAllRequestsQuery): Promise<RequestsPage> {
  const { order, limit, lastKey } = query;
  const lists = chooseLists(query);
  const scope = { filter: lists.length === 1 ? (lists[0] ?? {}) : {}, order };
  let place: ListPosition | undefined =
    lastKey === undefined ? { list: 0 } : readPlace(ports.cursors.open(lastKey, scope), query);
  const items: StoredRequest[] = [];
  let paramsBytes = 0;
  for (let look = 0; look < MAX_LOOKS && place !== undefined && items.length < limit; look++) {
    const { list, after }: ListPosition = place;
    const bounds = { limit: limit - items.length, maxParamsBytes: MAX_PARAMS_BYTES - paramsBytes };
    const asked = { filter: lists[list] ?? {}, order, ...bounds, ...(after !== undefined && { after }) };
    const page: ListPage = await ports.requests.list(asked);
    const found = page.items.filter(isWanted(query));
    items.push(...found);
    for (const { paramsJson } of found) paramsBytes += Buffer.byteLength(paramsJson);
    if (page.next !== null) place = { list, after: page.next };
    else place = list + 1 < lists.length ? { list: list + 1 } : undefined;
    if (paramsBytes >= MAX_PARAMS_BYTES) break;
  }
  return { items, lastKey: place === undefined ? null : ports.cursors.seal(writePlace(place, query), scope) };
}

/** Moves a claimed request in its owner's stead, whoever that is. */
async function moveHeld(
  ports: AdministerPorts,
  { requestId, asked }: { readonly requestId: string; readonly asked: 'pending' | 'failed' },
  move: (record: StoredRequest & { readonly claimedBy: string }) => Promise<Transition>,
): Promise<StoredRequest> {
  for (let tries = 1; ; tries++) {
    const record = await ports.requests.get(requestId);
    if (record === undefined) throw new RequestNotFoundError(requestId);
    const { status, claimedBy } = record;
    if (status !== REQUEST_MOVES.report.from || claimedBy === undefined)
      throw new RequestNotClaimedError(record, asked);
    const transition = await move({ ...record, claimedBy });
    if (transition.outcome === 'moved') return transition.record;
    if (transition.outcome === 'missing') throw new RequestNotFoundError(requestId);
    if (tries === MAX_TRIES) throw new RequestNotClaimedError(transition.record, asked);
  }
}

/**
 * Gives a claimed request back in its owner's stead.
 *
 * @returns the record, `pending` again
 * @throws RequestNotFoundError, RequestNotClaimedError
 * @see docs/specification.md ADMIN-5
 */
export function releaseClaim(ports: AdministerPorts, requestId: string): Promise<StoredRequest> {
  return moveHeld(ports, { requestId, asked: 'pending' }, ({ claimedBy }) =>
    ports.requests.release({ requestId, relayer: claimedBy, releaseId: ports.newId(), now: ports.now() }),
  );
}

/**
 * Ends a claimed request as failed in its owner's stead.
 *
 * @param failure.errorMessage - why, 1 to 1000 Unicode code points
 * @throws RequestNotFoundError, RequestNotClaimedError
 * @see docs/specification.md ADMIN-6
 */
export function failRequest(
  ports: AdministerPorts,
  { requestId, errorMessage }: { readonly requestId: string; readonly errorMessage: string },
): Promise<StoredRequest> {
  return moveHeld(ports, { requestId, asked: 'failed' }, ({ claimedBy }) =>
    ports.requests.report({
      ...{ requestId, relayer: claimedBy, reportId: ports.newId(), now: ports.now() },
      outcome: { status: 'failed', errorMessage },
    }),
  );
}

/** A removal of a request that a relayer may be submitting. */
export class RequestHeldError extends RequestConflictError {
  override readonly name = 'RequestHeldError';
  readonly code = 'REQUEST_HELD';

  constructor() {
    super(`The request is ${REQUEST_MOVES.report.from}; release it or end it as failed before it is removed.`);
  }
}

/**
 * Removes a request that nobody holds, for good.
 *
 * @throws RequestNotFoundError, RequestHeldError
 * @see docs/specification.md ADMIN-7
 */
export async function purgeRequest({ admin }: AdministerPorts, requestId: string): Promise<void> {
  const removal = await admin.remove(requestId);
  if (removal === 'missing') throw new RequestNotFoundError(requestId);
  if (removal === 'claimed') throw new RequestHeldError();
}
