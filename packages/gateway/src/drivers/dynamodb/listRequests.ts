import type { ListPage, ListQuery, RequestFilter } from '../../ports/requestStore.ts';
import { createIndexWalk, type IndexKey, type IndexWalk, type WalkPlan } from './createIndexWalk.ts';
import { completeFitting, type FoundHeads, type ParamsReader } from './params.ts';
import { readPositions, writePositions } from './position.ts';
import { readItems } from './readItems.ts';
import {
  isExpired,
  type RequestHeader,
  type RequestTable,
  readHead,
  shardKeys,
  transactionKey,
} from './requestItem.ts';
import { requestIndexes } from './tables.ts';

/** Most records that one page reads back: where most of them do not match, the page is short, not dear. */
const MAX_READ_BACK = 500;
/** Records that are read back at once where many may not match: what one BatchGetItem takes. */
const FULL_BATCH = 100;

type Route = Pick<WalkPlan, 'index' | 'partitions' | 'chainName'>;

/**
 * Chooses the index by which fewest entries are looked at. A transaction has few requests, and a signer. What is pending in a chain has an index of its
 * own, so that no other chain's backlog is passed over. Of the other statuses successful ones are many: of those, the chain's are fewer.
 */
function routeOf({ signer, status, chainName, txHash }: RequestFilter, shards: number): Route {
  if (txHash !== undefined) return { index: requestIndexes.pending, partitions: [transactionKey(txHash)] };
  if (signer !== undefined) return { index: requestIndexes.signer, partitions: [signer.toLowerCase()] };
  if (status === 'pending' && chainName !== undefined) {
    return { index: requestIndexes.pending, partitions: shardKeys(chainName, shards) };
  }
  if (status !== undefined && (status !== 'success' || chainName === undefined)) {
    const partitions = shardKeys(status, shards);
    return { index: requestIndexes.status, partitions, ...(chainName !== undefined && { chainName }) };
  }
  // By the port's word at least one filter is given.
  return { index: requestIndexes.chain, partitions: shardKeys(chainName ?? '', shards) };
}

/** Whether some of what the index finds will be left out after reading back. */
const filtersAfterwards = ({ signer, status, chainName }: RequestFilter) =>
  signer === undefined ? status === 'success' && chainName !== undefined : (status ?? chainName) !== undefined;

function matches({ record }: RequestHeader, { signer, status, chainName, txHash }: RequestFilter): boolean {
  return (
    (txHash === undefined || record.txHash?.toLowerCase() === txHash.toLowerCase()) &&
    (signer === undefined || record.signer.toLowerCase() === signer.toLowerCase()) &&
    (status === undefined || record.status === status) &&
    (chainName === undefined || record.chainName === chainName)
  );
}

/** Reads records back as they stand now; the index may lag behind. */
async function readBack(table: RequestTable, keys: readonly IndexKey[]): Promise<(RequestHeader | undefined)[]> {
  const ids = new Set(keys.map(({ requestId }) => requestId));
  const items = await readItems(table, [...ids], { consistent: true });
  return keys.map(({ requestId }) => {
    const item = items.get(requestId);
    // An index that lags may show one request in two of its partitions, after the number of shards has grown.
    if (!ids.delete(requestId) || item === undefined) return undefined;
    return readHead(item);
  });
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
      if (head !== undefined && matches(head, filter) && !isExpired(head, now)) {
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
export async function listRequests(table: RequestTable, params: ParamsReader, query: ListQuery): Promise<ListPage> {
  const { filter, order, after } = query;
  const route = routeOf(filter, table.shards);
  const count = route.partitions.length;
  const walk = createIndexWalk(table, {
    ...route,
    order,
    after: after === undefined ? [] : readPositions(after, count),
  });
  const found = await collectHeads(table, walk, query);
  const items = await completeFitting(params, found, query.maxParamsBytes ?? Number.POSITIVE_INFINITY);
  const next = (await walk.hasMore()) ? writePositions(walk.positions()) : null;
  return { items, next };
}

/**
 * Finds the oldest request of a status, in one chain or in all of them.
 *
 * @returns its `createdAt`; undefined when there is none, or none was among the first that the index showed
 * @throws DependencyUnavailableError
 */
export async function findOldest(
  table: RequestTable,
  filter: Pick<RequestFilter, 'status' | 'chainName'>,
): Promise<number | undefined> {
  const query = { filter, order: 'asc', limit: 1 } as const;
  const walk = createIndexWalk(table, { ...routeOf(query.filter, table.shards), order: 'asc', after: [] });
  const { heads } = await collectHeads(table, walk, query);
  return heads[0]?.record.createdAt;
}
