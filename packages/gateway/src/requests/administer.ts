import { type ListAllRequestsQuery, REQUEST_MOVES } from '@prism-gateway/protocol';
import type { AdminStore } from '../ports/adminStore.ts';
import type { RelayerStore } from '../ports/relayerStore.ts';
import type { ListPage, RequestStore, StoredRequest, Transition } from '../ports/requestStore.ts';
import type { CursorCodec } from './createCursorCodec.ts';
import { RequestConflictError, RequestNotClaimedError, RequestNotFoundError } from './errors.ts';
import type { RequestsPage } from './list.ts';

export interface AdministerPorts {
  readonly requests: RequestStore;
  readonly admin: AdminStore;
  readonly relayers: Pick<RelayerStore, 'find'>;
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

const isWanted =
  ({ relayer }: ListAllRequestsQuery) =>
  (record: StoredRequest) =>
    relayer === undefined || record.claimedBy?.toLowerCase() === relayer.toLowerCase();

/**
 * Lists requests for an administrator, of all statuses in the order of `createdAt`, by any filter or none.
 *
 * @throws InvalidCursorError for a `lastKey` of another list
 * @see docs/specification.md ADMIN-4
 */
export async function listAllRequests(ports: AdministerPorts, query: ListAllRequestsQuery): Promise<RequestsPage> {
  const { order, limit, lastKey, relayer, from, to, ...filter } = query;
  // Of no relayer it is another list than the public one, too.
  const scope = { filter: { ...filter, relayer: relayer ?? '*', from, to }, order };
  let after = lastKey === undefined ? undefined : ports.cursors.open(lastKey, scope) || undefined;
  let isMore = true;
  const items: StoredRequest[] = [];
  let paramsBytes = 0;
  for (let look = 0; look < MAX_LOOKS && isMore && items.length < limit && paramsBytes < MAX_PARAMS_BYTES; look++) {
    const bounds = { limit: limit - items.length, maxParamsBytes: MAX_PARAMS_BYTES - paramsBytes, from, to };
    const page: ListPage = await ports.requests.list({
      filter,
      order,
      ...bounds,
      ...(after !== undefined && { after }),
    });
    const found = page.items.filter(isWanted(query));
    items.push(...found);
    for (const { paramsJson } of found) paramsBytes += Buffer.byteLength(paramsJson);
    isMore = page.next !== null;
    after = page.next ?? undefined;
  }
  return { items, lastKey: isMore ? ports.cursors.seal(after ?? '', scope) : null };
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

/** A reopening of a request that no suspended relayer has reported failed. */
export class RequestNotReopenableError extends RequestConflictError {
  override readonly name = 'RequestNotReopenableError';
  readonly code = 'REQUEST_NOT_REOPENABLE';

  constructor({ status, claimedBy }: Pick<StoredRequest, 'status' | 'claimedBy'>) {
    super(
      status === REQUEST_MOVES.reopen.from
        ? `The request was reported failed by ${claimedBy}, which is not suspended; suspend that relayer first.`
        : `The request is ${status}; only one that is ${REQUEST_MOVES.reopen.from} can be reopened.`,
    );
  }
}

/**
 * Makes a request `pending` again that a since suspended relayer reported failed.
 *
 * @throws RequestNotFoundError, RequestNotReopenableError
 * @see docs/specification.md ADMIN-14
 */
export async function reopenRequest(ports: AdministerPorts, requestId: string): Promise<StoredRequest> {
  const { requests, relayers, newId, now } = ports;
  const record = await requests.get(requestId);
  if (record === undefined) throw new RequestNotFoundError(requestId);
  const { status, claimedBy } = record;
  if (status !== REQUEST_MOVES.reopen.from || claimedBy === undefined) throw new RequestNotReopenableError(record);
  if ((await relayers.find(claimedBy))?.suspendedAt === undefined) throw new RequestNotReopenableError(record);
  const transition = await requests.reopen({ requestId, relayer: claimedBy, releaseId: newId(), now: now() });
  if (transition.outcome === 'missing') throw new RequestNotFoundError(requestId);
  if (transition.outcome === 'conflict') throw new RequestNotReopenableError(transition.record);
  return transition.record;
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
