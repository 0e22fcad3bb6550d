import type { ListPage, ListQuery, RequestFilter } from '../../ports/requestStore.ts';
import { readItems } from './items.ts';
import type { OpenClaims } from './openClaims.ts';
import { completeFitting, type FoundHeads, type ParamsReader } from './params.ts';
import { boundsOf, readCursor, writeCursor } from './position.ts';
import { headOf, isExpired, type RequestHeader, type RequestTable, signerBytes, transactionKey } from './record.ts';
import { requestIndexes } from './tables.ts';
import { createIndexWalk, type IndexKey, type IndexWalk, type Lane, laneOf, statusLanes } from './walk.ts';

/** Most records that one page reads back: if most of them do not match, the page is short, not dear. */
const MAX_READ_BACK = 500;
/** Records that are read back at once if many may not match: what one BatchGetItem takes. */
const FULL_BATCH = 100;

interface ListContext {
  readonly table: RequestTable;
  readonly params: ParamsReader;
  readonly openClaims: Pick<OpenClaims, 'read'>;
}

/** Chooses where fewest entries are looked at: a transaction has few requests, and a signer. */
async function lanesOf(table: RequestTable, { signer, status, chainName, txHash }: RequestFilter): Promise<Lane[]> {
  if (txHash !== undefined) return [laneOf(requestIndexes.found, transactionKey(txHash))];
  if (signer !== undefined) return [laneOf(requestIndexes.signer, signerBytes(signer))];
  return await statusLanes(table, { status, chainName });
}

/** How old the picture of open claims may be, in milliseconds. */
const CLAIMS_AGE_MS = 5000;

/** The lanes of claims too, if some of them have lapsed: a walk through claims that hold finds nothing. */
async function lanesOfLapsed({ table, openClaims }: ListContext, query: ListQuery): Promise<Lane[]> {
  const { leaseExpiredAt } = query;
  const { signer, status, chainName, txHash } = query.filter;
  if (status !== 'pending' || leaseExpiredAt === undefined || (signer ?? txHash) !== undefined) return [];
  const claims = [...(await openClaims.read(CLAIMS_AGE_MS)).values()];
  const isLapsed = claims.some(
    (one) => one.claimedAt <= leaseExpiredAt && (chainName ?? one.chainName) === one.chainName,
  );
  return isLapsed ? await statusLanes(table, { status: 'processing', chainName }) : [];
}

/** Whether some of what the index finds will be left out after reading back: it holds one of the filters, or chain and status. */
function filtersAfterwards(filter: RequestFilter): boolean {
  const { status, chainName, ...others } = filter;
  const ownIndexes = Object.values(others).filter((value) => value !== undefined).length;
  return ownIndexes > 1 || (ownIndexes === 1 && (status ?? chainName) !== undefined);
}

const isLapsed = ({ status, claimedAt = 0 }: RequestHeader['record'], leaseExpiredAt = -1) =>
  status === 'processing' && claimedAt <= leaseExpiredAt;

const isSame = (one: string | undefined, other: string) => one?.toLowerCase() === other.toLowerCase();

/** Whether a record has the value of each filter. */
const MATCHES: Readonly<
  Record<keyof RequestFilter, (record: RequestHeader['record'], value: string, leaseExpiredAt?: number) => boolean>
> = {
  txHash: ({ txHash }, value) => isSame(txHash, value),
  signer: ({ signer }, value) => isSame(signer, value),
  status: (record, value, leaseExpiredAt) =>
    record.status === value || (value === 'pending' && isLapsed(record, leaseExpiredAt)),
  chainName: ({ chainName }, value) => chainName === value,
};

function matches({ record }: RequestHeader, { filter, leaseExpiredAt }: Pick<ListQuery, 'filter' | 'leaseExpiredAt'>) {
  return Object.entries(filter).every(
    // The names are the filter's own.
    ([name, value]) => value === undefined || MATCHES[name as keyof RequestFilter](record, value, leaseExpiredAt),
  );
}

/** Reads records back as they stand now; the index may lag behind. */
async function readBack(table: RequestTable, keys: readonly IndexKey[]): Promise<(RequestHeader | undefined)[]> {
  const ids = keys.map(({ requestId }) => requestId);
  const items = await readItems(table, ids, { consistent: true });
  return ids.map((id) => headOf(items.get(id)));
}

/** Walks until enough heads match, the index ends, or enough was read. */
async function collectHeads(
  table: RequestTable,
  walk: IndexWalk,
  query: Omit<ListQuery, 'after'>,
): Promise<FoundHeads> {
  const { filter, limit } = query;
  const found: RequestHeader[] = [];
  const taken: IndexKey[] = [];
  /** Where each head's key stands among those. */
  const places: number[] = [];
  for (let read = 0; found.length < limit && read < MAX_READ_BACK; ) {
    // After a first batch with gaps the index lags, and more gaps are to be expected.
    const keys = await walk.next(filtersAfterwards(filter) || read > 0 ? FULL_BATCH : limit);
    if (keys.length === 0) break;
    read += keys.length;
    const heads = await readBack(table, keys);
    const now = table.now();
    for (const [i, head] of heads.entries()) {
      if (head !== undefined && matches(head, query) && !isExpired(head, now)) {
        found.push(head);
        places.push(taken.length + i);
      }
      if (found.length === limit) {
        walk.giveBack(keys.slice(i + 1));
        break;
      }
    }
    taken.push(...keys);
  }
  const kept = found.length === limit ? (places.at(-1) ?? 0) + 1 : taken.length;
  return { heads: found, giveBackFrom: (index) => walk.giveBack(taken.slice(places[index], kept)) };
}

/**
 * Lists a page: keys from the index, records by consistent reads. What the index still shows and the record is no longer, like a
 * pending request that has been claimed, is left out.
 *
 * @throws DependencyUnavailableError, InvalidCursorError
 */
export async function listRequests(context: ListContext, query: ListQuery): Promise<ListPage> {
  const { table, params } = context;
  const { filter, order, after } = query;
  const lanes = [...(await lanesOf(table, filter)), ...(await lanesOfLapsed(context, query))];
  const walk = createIndexWalk(table, {
    ...{ lanes, order },
    after: after === undefined ? undefined : readCursor(after),
    bounds: boundsOf(query),
  });
  const found = await collectHeads(table, walk, query);
  const items = await completeFitting(params, found, query.maxParamsBytes ?? Number.POSITIVE_INFINITY);
  const isMore = await walk.hasMore();
  const place = walk.position();
  return { items, next: isMore && place !== undefined ? writeCursor(place) : null };
}

/**
 * Finds the oldest request of a status, in one chain or in all of them.
 *
 * @returns its `createdAt`; undefined when there is none, or none was among the first that the index showed
 */
export async function findOldest(
  table: RequestTable,
  filter: Pick<RequestFilter, 'status' | 'chainName'>,
): Promise<number | undefined> {
  const query = { filter, order: 'asc', limit: 1 } as const;
  const walk = createIndexWalk(table, { lanes: await lanesOf(table, filter), order: 'asc' });
  const { heads } = await collectHeads(table, walk, query);
  return heads[0]?.record.createdAt;
}
